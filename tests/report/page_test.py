#!/usr/bin/python3
"""page_test.py HILO: opens the report's page in a headless browser and uses it as a reader would.

Set HILO_SCREENSHOTS to a folder to keep pictures of it, light and dark, on a desktop and on a phone.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

HILO = sys.argv.pop(1)
PAGE = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1].endswith(".html") else None

SPEC = """
spec_version = 1
name = "small"
seeds = 4

[problem]
kind = "random-mdp"
states = 40
actions = 4
sweep.snr_db = [-10, 3]

[train]
episodes = 300

[test]
every = 10
episodes = 20
exact_every = 30

[[agent]]
kind = "mcrl"

[[agent]]
kind = "mfmcrl"
low_rollouts = 3
sweep.variant = ["as-published", "as-written"]
"""
NUM_TESTS = 31  # 0, 10, ..., 300
AGENTS = 5


DOCKING = '''spec_version = 1
name = "docking-small"
seeds = 2
[problem]
kind = "docking"
cells = 6
[train]
episodes = 1500
[test]
every = 500
episodes = 20
exact_every = 500
[[agent]]
kind = "mcrl"
[[agent]]
kind = "mfmcrl"
sweep.variant = ["as-published", "plus"]
'''

# Names as people give them, and longer than a phone is wide.
NAMES = r'''spec_version = 1
name = "names-of-agents-that-are-longer-than-any-phone-is-wide-in-one-word"
seeds = 2
[problem]
kind = "random-mdp"
states = 40
actions = 4
[train]
episodes = 40
[test]
every = 20
episodes = 5
exact_every = 20
[[agent]]
kind = "mcrl"
label = "10% noise, 'plain' & \"quoted\" <b>_{x}^2$\\`@"
[[agent]]
kind = "mfmcrl"
label = "with_a_label_of_one_word_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_to_its_end"
'''


def make_page(folder):
    """A store with a small experiment and a part of the paper's, and its page."""
    (folder / "small.toml").write_text(SPEC)

    def run(*arguments, codes=(0,)):
        done = subprocess.run([HILO, *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode in codes, (arguments, done.stdout, done.stderr)

    run("run", "small.toml", "--store", "page.db")
    run("diagnose", "small.toml", "--store", "page.db")
    run("reproduce", "docking", "--seeds", "2", "--store", "docking.db", "--dry-run")
    (folder / "docking.toml").write_text(DOCKING)
    run("run", "docking.toml", "--store", "page.db")
    run("reproduce", "figure-2a", "--seeds", "2", "--store", "page.db", codes=(0, 1))
    (folder / "names.toml").write_text(NAMES)
    run("run", "names.toml", "--store", "page.db")
    run("report", "page.db", "--out", "page.html")
    return folder / "page.html"


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.page = pathlib.Path(PAGE) if PAGE else make_page(pathlib.Path(cls.scratch.name))
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1280,900", "--hide-scrollbars",
                     f"--user-data-dir={cls.scratch.name}/profile"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.scratch.cleanup()

    def setUp(self):
        self.emulate(width=1280, height=900)
        self.driver.get_log("performance")
        self.driver.get(self.page.absolute().as_uri())

    def emulate(self, width, height, dark=False):
        command = self.driver.execute_cdp_cmd
        command("Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        command("Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def figures(self):
        return self.driver.find_elements(By.CSS_SELECTOR, "figure.chart")

    def figure(self, experiment, chart=0):
        """The chart-th figure of an experiment, scrolled into view and drawn."""
        section = self.driver.find_element(By.ID, f"x-{experiment}")
        figure = section.find_elements(By.CSS_SELECTOR, "figure.chart")[chart]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
        self.wait_for(lambda: figure.get_attribute("data-metric"))
        return figure

    def wait_for(self, condition, seconds=10):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds).until(lambda _: condition())

    def datasets(self, figure, kind="mean"):
        return self.driver.execute_script(
            "return Chart.getChart(arguments[0].querySelector('canvas')).data.datasets"
            ".filter((d) => d.kind === arguments[1]).map((d) => [d.label, d.data.map((p) => [p.x, p.y])])",
            figure, kind)

    def ink(self, figure):
        """How many pixels of the canvas are not blank, and how many colours they have."""
        return self.driver.execute_script(
            "const c = arguments[0].querySelector('canvas');"
            "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "let n = 0; const colours = new Set();"
            "for (let i = 0; i < p.length; i += 4) if (p[i + 3] > 0) { ++n;"
            "  colours.add((p[i] << 16) | (p[i + 1] << 8) | p[i + 2]); }"
            "return [n, colours.size]", figure)

    def test_no_console_message_and_no_request(self):
        self.driver.get_log("browser")
        self.driver.refresh()
        for figure in self.figures():
            self.driver.execute_script("arguments[0].scrollIntoView()", figure)
            self.wait_for(lambda f=figure: f.get_attribute("data-metric"))
        self.assertEqual(self.driver.get_log("browser"), [])
        requested = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                requested.add(message["params"]["request"]["url"])
        self.assertTrue(requested)  # the log does see requests
        self.assertEqual({u for u in requested if not u.startswith("data:")},
                         {self.page.absolute().as_uri()})

    def test_charts_are_drawn(self):
        self.assertGreaterEqual(len(self.figures()), 3)
        for figure in self.figures():
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
            self.wait_for(lambda f=figure: f.get_attribute("data-metric"))
            pixels, colours = self.ink(figure)
            self.assertGreater(pixels, 2000)
            self.assertGreater(colours, 10)
        # Box plots are inline SVG.
        boxes = self.driver.find_elements(By.CSS_SELECTOR, "figure.ratios svg rect")
        self.assertGreaterEqual(len(boxes), 4)
        for box in boxes:
            self.assertGreater(box.rect["height"], 5)

    def test_switching_the_metric_changes_the_data(self):
        if PAGE:
            self.skipTest("needs the small experiment")
        figure = self.figure("small")
        seen = {}
        for option in Select(figure.find_element(By.CSS_SELECTOR, "[data-control=metric]")).options:
            Select(figure.find_element(By.CSS_SELECTOR, "[data-control=metric]")).select_by_visible_text(option.text)
            sets = self.datasets(figure)
            self.assertEqual(len(sets), AGENTS)
            seen[figure.get_attribute("data-metric")] = sets
        self.assertEqual(list(seen), ["test_reward", "policy_reward", "test_return", "policy_value"])
        self.assertEqual(len({json.dumps(s) for s in seen.values()}), 4)
        self.assertEqual(len(seen["test_reward"][0][1]), NUM_TESTS)
        self.assertEqual(len(seen["policy_value"][0][1]), 11)
        # The exact level of the optimum is drawn, and said to be what it is.
        self.assertEqual(len(self.datasets(figure, "level")), 1)
        self.assertIn("optimal discounted value, exact", figure.find_element(By.CLASS_NAME, "level").text)

    def test_published_means_are_marks(self):
        marks = self.datasets(self.figure("figure-2a"), "mark")
        self.assertEqual(len(marks), 4)
        self.assertEqual(marks[0][1][-1], [10000, 0.5741])

    def test_legend_hides_curves_by_mouse_and_keyboard(self):
        figure = self.figure("figure-2a")
        count = len(self.datasets(figure))
        button = figure.find_element(By.CSS_SELECTOR, ".legend button")
        button.click()
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        self.assertEqual(len(self.datasets(figure)), count - 1)
        button.send_keys(Keys.SPACE)
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        self.assertEqual(len(self.datasets(figure)), count)

    def test_axis_and_band(self):
        figure = self.figure("figure-2a")
        Select(figure.find_element(By.CSS_SELECTOR, "[data-control=axis]")).select_by_value("log")
        self.assertNotIn(0, [p[0] for p in self.datasets(figure)[0][1]])
        before = self.datasets(figure, "band")
        Select(figure.find_element(By.CSS_SELECTOR, "[data-control=band]")).select_by_value("sd")
        self.assertNotEqual(before, self.datasets(figure, "band"))
        Select(figure.find_element(By.CSS_SELECTOR, "[data-control=band]")).select_by_value("none")
        self.assertEqual(self.datasets(figure, "band"), [])

    def test_hover_shows_values(self):
        figure = self.figure("figure-2a")
        canvas = figure.find_element(By.TAG_NAME, "canvas")
        webdriver.ActionChains(self.driver).move_to_element(canvas).perform()
        lines = self.wait_for(lambda: self.driver.execute_script(
            "return Chart.getChart(arguments[0]).tooltip.body?.map((b) => b.lines.join(' '))", canvas))
        self.assertTrue(any("MCRL" in line and "(95 %)" in line for line in lines), lines)

    def test_tables_have_their_rows(self):
        if PAGE:
            self.skipTest("needs the small experiment")
        section = self.driver.find_element(By.ID, "x-small")
        rows = {}
        for table in section.find_elements(By.CSS_SELECTOR, ".block table"):
            caption = table.find_element(By.TAG_NAME, "caption").text
            rows[caption] = len(table.find_elements(By.CSS_SELECTOR, "tbody tr"))
        self.assertEqual(rows["Where they end"], AGENTS)
        self.assertEqual(rows["Robust statistics"], AGENTS)
        self.assertEqual(rows["Episodes needed"], AGENTS)
        self.assertEqual(rows["Saving against MCRL"], AGENTS)
        self.assertEqual(rows["Variance ratio"], AGENTS - 1)
        self.assertEqual(rows["What a run cost"], AGENTS)
        figure = self.figure("small")
        figure.find_element(By.CSS_SELECTOR, "details.data summary").click()
        self.wait_for(lambda: figure.find_elements(By.CSS_SELECTOR, "details.data tbody tr"))
        self.assertEqual(len(figure.find_elements(By.CSS_SELECTOR, "details.data tbody tr")), NUM_TESTS)
        self.assertEqual(len(figure.find_elements(By.CSS_SELECTOR, "details.data thead th")), AGENTS + 1)
        paper = self.driver.find_element(By.ID, "x-figure-2a")
        text = paper.find_element(By.XPATH, ".//table[caption='Against the paper']").text
        self.assertEqual(text.count("MCRL test_reward") - text.count("MFMCRL test_reward"), 5)

    def test_docking_is_drawn(self):
        section = self.driver.find_element(By.ID, "x-docking-small")
        maps = section.find_elements(By.CSS_SELECTOR, ".maps figure.map svg[aria-label^='values and']")
        self.assertEqual(len(maps), 4)  # the optimum and three agents
        for drawn in maps:
            self.assertEqual(len(drawn.find_elements(By.TAG_NAME, "rect")), 37)  # 6 x 6 and a frame
            self.assertGreater(drawn.size["width"], 100)
        self.assertTrue(section.find_elements(By.CSS_SELECTOR, "polyline"))
        self.assertIn("Why they end there", section.text)

    def test_values_have_error_bars_and_a_diagnosis_its_verdict(self):
        bars = self.driver.find_elements(By.CSS_SELECTOR, "svg[aria-label$='with error bars']")
        self.assertGreater(len(bars), 2)
        block = self.driver.find_element(By.CSS_SELECTOR, ".diagnosis")
        self.assertRegex(block.text, "Diagnosis: (use it|drop it|cannot tell yet)")

    def test_says_what_is_missing(self):
        if PAGE:
            self.skipTest("needs the small experiment")
        note = self.driver.find_element(By.CSS_SELECTOR, "main > .missing").text
        self.assertIn("figure-4b", note)
        self.assertNotIn("figure-2a", note.replace("figure-2a runs", ""))

    def test_nothing_overflows_on_a_phone(self):
        self.emulate(width=360, height=740)
        self.driver.refresh()
        for figure in self.figures():
            self.driver.execute_script("arguments[0].scrollIntoView()", figure)
            self.wait_for(lambda f=figure: f.get_attribute("data-metric"))
        # What scrolls may hold more than is seen, but must itself be seen whole.
        wide = self.driver.execute_script(
            "const inBox = (e) => e.closest('.skip') || e.parentElement.closest('.scroll, nav .links, pre, svg');"
            "return [...document.querySelectorAll('body *')].filter((e) => !inBox(e)"
            "  && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120))")
        self.assertEqual(wide, [])
        self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 360)
        button = self.driver.find_element(By.ID, "theme")
        self.assertLessEqual(button.rect["x"] + button.rect["width"], 360)
        button.click()

    def test_agents_are_named_as_they_are(self):
        if PAGE:
            self.skipTest("needs its experiment")
        figure = self.figure("names-of-agents-that-are-longer-than-any-phone-is-wide-in-one-word")
        label = "10% noise, 'plain' & \"quoted\" <b>_{x}^2$\\`@"
        self.assertEqual(figure.find_element(By.CSS_SELECTOR, ".legend button").text, label)
        self.assertEqual(self.datasets(figure)[0][0], label)

    def test_the_page_of_a_learn_run(self):
        folder = pathlib.Path(self.scratch.name)
        (folder / "plant.toml").write_text(
            'spec_version = 1\nname = "plant"\n[problem]\nkind = "random-mdp"\nstates = 20\n'
            "actions = 3\n[train]\ngamma = 0.9\n[budget]\nepisodes = 60\n[cost]\nhigh_step = 1\n")
        subprocess.run([HILO, "learn", "plant.toml"], cwd=folder, check=True, capture_output=True)
        self.driver.get_log("browser")
        self.driver.get((folder / "plant.html").absolute().as_uri())
        self.assertEqual(self.driver.get_log("browser"), [])
        self.assertIn("The policy is worth", self.driver.find_element(By.CSS_SELECTOR, ".lead").text)
        picture = self.driver.find_element(By.CSS_SELECTOR, "figure svg")
        self.assertEqual(len(picture.find_elements(By.TAG_NAME, "circle")), 50)
        for word in ("tested", "optimum", "cheap one alone"):
            self.assertIn(word, picture.text)
        for width in (1280, 360):
            self.emulate(width=width, height=900)
            wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            self.assertLessEqual(self.driver.execute_script(wide), 0)

    def test_the_page_of_a_learn_run_on_vectors(self):
        folder = pathlib.Path(self.scratch.name)
        (folder / "swing.toml").write_text(
            'spec_version = 1\nname = "swing"\n[problem]\nkind = "cart-pole"\n[train]\ngamma = 1\n'
            "[budget]\nepisodes = 4\nreserve = 1\n[cost]\nhigh_step = 1\n[agent]\n"
            'kind = "corrected"\nscenarios = 4\npopulation = 4\ngenerations = 4\nrestarts = 1\n'
            "frequencies = 20\nfit_points = 40\n")
        subprocess.run([HILO, "learn", "swing.toml"], cwd=folder, check=True, capture_output=True)
        self.driver.get_log("browser")
        self.driver.get((folder / "swing.html").absolute().as_uri())
        self.assertEqual(self.driver.get_log("browser"), [])
        titles = [figure.text for figure in self.driver.find_elements(By.CSS_SELECTOR, "figure h2")]
        self.assertEqual(titles, ["The final episode", "The policy", "The residual: predicted and seen"])
        for width in (1280, 390):
            self.emulate(width=width, height=900)
            for picture in self.driver.find_elements(By.CSS_SELECTOR, "figure svg"):
                self.assertTrue(picture.get_attribute("aria-label"))
                self.assertGreater(picture.rect["height"], 40)
                # Every text of a picture is inside of it.
                outside = self.driver.execute_script(
                    "const box = arguments[0].getBoundingClientRect();"
                    "return [...arguments[0].querySelectorAll('text')].filter((t) => {"
                    "  const r = t.getBoundingClientRect();"
                    "  return r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1"
                    "    || r.bottom > box.bottom + 1; }).map((t) => t.textContent)", picture)
                self.assertEqual(outside, [])
            wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            self.assertLessEqual(self.driver.execute_script(wide), 0)

    def test_few_episodes_are_on_a_logarithmic_axis_with_a_place_for_none(self):
        folder = pathlib.Path(self.scratch.name)
        (folder / "few.toml").write_text(
            'spec_version = 1\nname = "few"\nseeds = 2\n[problem]\nkind = "pendulum"\n[train]\n'
            "gamma = 1\nmax_steps = 20\nepisodes = 6\n[test]\nevery = 1\nepisodes = 3\n[[agent]]\n"
            'kind = "corrected"\nscenarios = 2\npopulation = 4\ngenerations = 2\nrestarts = 1\n'
            "frequencies = 20\nfit_points = 40\n")
        subprocess.run([HILO, "run", "few.toml", "--store", "few.db"], cwd=folder, check=True,
                       capture_output=True)
        subprocess.run([HILO, "report", "few.db", "--out", "few.html"], cwd=folder, check=True,
                       capture_output=True)
        self.driver.get((folder / "few.html").absolute().as_uri())
        figure = self.figure("few")
        places = [p[0] for p in self.datasets(figure)[0][1]]
        self.assertEqual(places, [0.5, 1, 2, 3, 4, 5, 6])
        axis = self.driver.execute_script(
            "const x = Chart.getChart(arguments[0].querySelector('canvas')).scales.x;"
            "return [x.type, x.min, x.max, x.ticks.map((t) => t.label)]", figure)
        self.assertEqual(axis, ["logarithmic", 0.5, 6, ["0", "1", "2", "3", "5"]])
        Select(figure.find_element(By.CSS_SELECTOR, "[data-control=axis]")).select_by_value("linear")
        self.assertEqual([p[0] for p in self.datasets(figure)[0][1]], [0, 1, 2, 3, 4, 5, 6])

    def test_follows_light_and_dark(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = self.driver.execute_script(ground)
        self.emulate(width=1280, height=900, dark=True)
        self.wait_for(lambda: self.driver.execute_script(ground) != light)
        dark = self.driver.execute_script(ground)
        self.driver.find_element(By.ID, "theme").click()
        self.assertEqual(self.driver.execute_script(ground), light)
        self.driver.find_element(By.ID, "theme").click()
        self.assertEqual(self.driver.execute_script(ground), dark)

    def test_screenshots(self):
        folder = os.environ.get("HILO_SCREENSHOTS")
        if not folder:
            self.skipTest("HILO_SCREENSHOTS is not set")
        import base64
        for name, width, dark in (("desktop-light", 1280, False), ("desktop-dark", 1280, True),
                                  ("phone-light", 360, False), ("phone-dark", 360, True)):
            self.emulate(width=width, height=900, dark=dark)
            self.driver.refresh()
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
            for figure in self.figures():
                self.driver.execute_script("arguments[0].scrollIntoView()", figure)
                self.wait_for(lambda f=figure: f.get_attribute("data-metric"))
            self.driver.execute_script("scrollTo(0, 0)")
            for part, top in enumerate(range(0, min(height, 16000), 4000)):
                shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
                    "captureBeyondViewport": True, "clip": {"x": 0, "y": top, "width": width,
                                                            "height": min(4000, height - top), "scale": 1}})
                pathlib.Path(folder, f"{name}-{part}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
