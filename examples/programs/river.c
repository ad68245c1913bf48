// river.c: a swimmer in ten cells, for protocol 1 of hilo. "./river 0.3": three strokes in ten go back.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 10 };
static uint64_t state;

static double draw(void) {  // a linear congruential generator: the same numbers everywhere
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 33) / 2147483648.0;
}

int main(int argc, char** argv) {
  const double slip = argc > 1 ? atof(argv[1]) : 0.3;
  int cell = 0, over = 1;
  char line[256], word[16];
  setvbuf(stdout, NULL, _IOLBF, 0);  // every answer must go out at once
  while (fgets(line, sizeof line, stdin)) {
    unsigned seed;
    int action, next;
    if (sscanf(line, "%15s", word) != 1) continue;
    if (!strcmp(word, "hello")) {
      puts("{\"hilo\":1,\"name\":\"river\",\"version\":\"1\",\"actions\":2,"
           "\"observation\":{\"states\":10},\"start\":\"value\",\"seedable\":true,"
           "\"deterministic\":false}");
    } else if (sscanf(line, "reset %u", &seed) == 1) {
      state = seed, cell = 0, over = 0;
      puts("ok 0 0");
    } else if (sscanf(line, "start %u %d", &seed, &cell) == 2) {
      state = seed, over = cell == CELLS - 1;
      printf("ok %d %d\n", over, cell);
    } else if (sscanf(line, "step %d", &action) == 1 && !over && (action == 0 || action == 1)) {
      cell += action == 1 && draw() >= slip ? 1 : -1;
      if (cell < 0) cell = 0;
      over = cell == CELLS - 1;
      printf("ok %g %d %d\n", over ? 1.0 : -0.01, over, cell);
    } else if (sscanf(line, "reward %*d %*d %d", &next) == 1) {
      printf("ok %g\n", next == CELLS - 1 ? 1.0 : -0.01);
    } else if (!strcmp(word, "quit")) {
      break;
    } else {
      puts("error there is no such request or action, or the episode is over");
    }
  }
  return 0;
}
