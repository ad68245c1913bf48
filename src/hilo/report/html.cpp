#include "hilo/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hilo/report/colours.hpp"

namespace hilo {
namespace {

const char* class_of(const std::string& cell) {
  if (cell == "agrees" || cell == "above") return " class=\"good\"";
  if (cell == "DIFFERS" || cell == "below") return " class=\"bad\"";
  if (cell == "cannot be told" || cell == "too few seeds") return " class=\"open\"";
  return "";
}

constexpr double kWidth = 1000;  // in the row's own units; the page stretches it

// The next round number that is at least `value`.
double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
    if (factor * power >= value * (1 - 1e-12)) return factor * power;
  return value;
}

std::string line(double x1, double y1, double x2, double y2, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\" stroke=\"currentColor\" "
      "stroke-width=\"{}\" vector-effect=\"non-scaling-stroke\"/>",
      x1, y1, x2, y2, width);
}

std::string box_row(const RatioBox& b, std::size_t colour, double top) {
  const auto x = [&](double value) { return kWidth * value / top; };
  const Quartiles& q = b.box.quartiles;
  std::string text = fmt::format("median {:.4f}, quartiles {:.4f} to {:.4f}, {} seeds", q.median,
                                 q.q1, q.q3, b.seeds);
  if (b.published)
    text += fmt::format("; published {:.4f}, {:.4f} to {:.4f}", b.published->value, b.published->q1,
                        b.published->q3);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} 26\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}: "
      "{}\" data-colour=\"{}\"><title>{}</title>",
      kWidth, escape_html(b.agent), text, colour, text);
  svg += line(0, 25.5, kWidth, 25.5, 0.3);
  svg += line(x(b.box.low_whisker), 10, x(q.q1), 10, 1.5) +
         line(x(q.q3), 10, x(b.box.high_whisker), 10, 1.5);
  svg += line(x(b.box.low_whisker), 6, x(b.box.low_whisker), 14, 1.5) +
         line(x(b.box.high_whisker), 6, x(b.box.high_whisker), 14, 1.5);
  svg += fmt::format(
      "<rect x=\"{:.1f}\" y=\"2\" width=\"{:.1f}\" height=\"16\" fill=\"currentColor\" "
      "fill-opacity=\"0.25\" stroke=\"currentColor\" stroke-width=\"1.5\"{} "
      "vector-effect=\"non-scaling-stroke\"/>",
      x(q.q1), std::max(1.0, x(q.q3) - x(q.q1)),
      b.agent.ends_with(" as-written") ? " stroke-dasharray=\"4 3\"" : "");
  svg += line(x(q.median), 2, x(q.median), 18, 3);
  for (const double outlier : b.box.outliers) svg += line(x(outlier), 8, x(outlier), 12, 2);
  if (b.published) {
    svg += "<g style=\"color:var(--text)\">" +
           line(x(b.published->q1), 22, x(b.published->q3), 22, 2) +
           line(x(b.published->value), 19.5, x(b.published->value), 24.5, 3) + "</g>";
  }
  return svg + "</svg>";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += c;
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  return out;
}

std::string html_table(const Table& table) {
  if (table.empty()) return "";
  std::string out = fmt::format(
      "<div class=\"block\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
      escape_html(table.title));
  for (const std::string& cell : table.rows[0])
    out += fmt::format("<th scope=\"col\">{}</th>", escape_html(cell));
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    out += "<tr>";
    for (std::size_t k = 0; k < table.rows[i].size(); ++k) {
      const std::string& cell = table.rows[i][k];
      out += k == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape_html(cell))
                    : fmt::format("<td{}>{}</td>", class_of(cell), escape_html(cell));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>";
  if (!table.note.empty()) out += fmt::format("<p class=\"note\">{}</p>", escape_html(table.note));
  return out + "</div>\n";
}

std::string html_boxes(const std::vector<RatioBox>& boxes, const Results& results) {
  double top = 0;
  bool published = false;
  for (const RatioBox& b : boxes) {
    top = std::max(top, b.box.high_whisker);
    if (!b.box.outliers.empty()) top = std::max(top, b.box.outliers.back());
    if (b.published) top = std::max(top, b.published->q3);
    published = published || b.published.has_value();
  }
  top = round_up(top);
  const AgentColours colours(results);
  std::string out = "<div class=\"boxes\">";
  for (const RatioBox& b : boxes)
    out += fmt::format("<div class=\"name\">{}</div><div>{}</div>\n", escape_html(b.agent),
                       box_row(b, colours.place(b.agent), top));
  out += "<div class=\"ticks\" aria-hidden=\"true\">";
  for (int i = 0; i <= 5; ++i)
    out += fmt::format("<span style=\"left:{}%\">{:.3g}</span>", 20 * i, top * i / 5);
  out += "</div></div>";
  if (published)
    out += "<p class=\"note\">Thin bars below the boxes: published quartiles and median.</p>";
  return out;
}

}  // namespace hilo
