#include "driver/reports/html_page.h"

namespace allranks::reports {

std::string_view HtmlStyle() {
  return R"css(
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1b1f24; --dim: #57606a; --line: #d0d7de; --soft: #f6f8fa;
  --error: #b3261e; --warning: #8a5a00; --info: #0b5cad; --good: #1a7f37; --condition: #8250df; --mark: #fff1c2; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #0f1318; --fg: #e2e7ec; --dim: #9aa4af; --line: #30363d; --soft: #171c22;
    --error: #ff8a80; --warning: #e3b341; --info: #79b8ff; --good: #56d364; --condition: #c49bff; --mark: #4a3d10; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 0 0 .3rem; font-size: 1.3rem; }
.filters { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; padding: .6rem 0; position: sticky; top: 0;
  background: var(--bg); border-bottom: 1px solid var(--line); z-index: 1; }
input[type=search], select { font: inherit; padding: .25rem .5rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--soft); color: inherit; }
table { border-collapse: collapse; margin: .6rem 0; }
td, th { text-align: left; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th { color: var(--dim); }
article { border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 8px; margin: 1rem 0; padding: .8rem 1rem; }
article.error { border-left-color: var(--error); } article.warning { border-left-color: var(--warning); }
article.info { border-left-color: var(--info); }
article:focus-visible, .scroll:focus-visible { outline: 2px solid var(--info); outline-offset: 2px; }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.code { font-weight: 700; } .error .code { color: var(--error); } .warning .code { color: var(--warning); }
.info .code { color: var(--info); }
.place, .dim, figcaption { color: var(--dim); }
code, pre, .place { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 13px; }
.excerpt { margin: .6rem 0; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); overflow-x: auto; }
.excerpt .file { padding: .2rem .7rem; border-bottom: 1px solid var(--line); color: var(--dim); font-size: 13px; }
pre { margin: 0; padding: .4rem .7rem; line-height: 1.55; tab-size: 4; }
pre .n { display: inline-block; width: 3.5em; padding-right: 1em; text-align: right; color: var(--dim); user-select: none; }
pre .note { display: block; padding-left: 3.6em; white-space: pre-wrap; font-family: system-ui, sans-serif; }
mark { background: var(--mark); color: inherit; border-radius: 3px; border-bottom: 2px solid currentColor; }
.primary { color: var(--error); } .warning .primary { color: var(--warning); } .info .primary { color: var(--info); }
.condition { color: var(--condition); } .victim { color: var(--warning); } .why, .call, .note-role { color: var(--info); }
figure { margin: .6rem 0; } .scroll { overflow-x: auto; }
.lanes text { fill: var(--fg); font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.lanes .name { font-weight: 700; } .lanes .op { fill: var(--dim); } .lanes .ending { fill: var(--dim); }
.lanes .op.waits, .lanes .ending.waits { fill: var(--error); font-weight: 700; }
.lanes .goes { stroke: var(--dim); stroke-width: 2; } .lanes .waiting { stroke: var(--error); stroke-width: 2; stroke-dasharray: 3 5; }
.lanes .done { fill: var(--good); } .lanes rect.waits { fill: var(--error); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .8rem; margin: .5rem 0 0; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
[hidden] { display: none !important; }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 .3em; font-size: 12px; }
@media print { .filters { display: none; } article { break-inside: avoid; } }
)css";
}

std::string_view HtmlScript() {
  return R"js(
const articles = [...document.querySelectorAll("article")];
const search = document.getElementById("search"), rule = document.getElementById("rule");
const boxes = [...document.querySelectorAll("input[name=severity]")], shown = document.getElementById("shown");
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const severities = new Set(boxes.filter(b => b.checked).map(b => b.value));
  let count = 0;
  for (const a of articles) {
    const text = a.textContent.toLowerCase();
    a.hidden = !severities.has(a.dataset.severity) || (rule.value && a.dataset.code !== rule.value) ||
      !words.every(w => text.includes(w));
    if (!a.hidden) ++count;
  }
  shown.textContent = count + " of " + articles.length + " shown";
}
for (const control of [search, rule, ...boxes]) control.addEventListener("input", filter);
function go(step) {
  const visible = articles.filter(a => !a.hidden);
  if (!visible.length) return;
  const at = visible.indexOf(document.activeElement);
  const next = visible[at < 0 ? (step > 0 ? 0 : visible.length - 1) : Math.min(Math.max(at + step, 0), visible.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
  window.scrollBy(0, -70);
}
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "Escape" && typing) { document.activeElement.blur(); return; }
  if (typing) return;
  if (event.key === "j") go(1);
  else if (event.key === "k") go(-1);
  else if (event.key === "/") { search.focus(); event.preventDefault(); }
});
filter();
)js";
}

}  // namespace allranks::reports
