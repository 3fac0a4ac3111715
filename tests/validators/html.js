// Opens the HTML report in headless Chromium: nothing of the analysed code may run, filters and keys must work, in light
// and in dark. usage: html.js REPORT FOLDER, which takes the pictures. CHROMIUM names the browser.
const assert = require("node:assert");
const path = require("node:path");
const { chromium } = require("playwright-core");

async function check(page, report) {
  const problems = [];
  page.on("console", message => problems.push(message.text()));
  page.on("pageerror", error => problems.push(error.message));
  page.on("dialog", dialog => { problems.push("dialog: " + dialog.message()); dialog.dismiss(); });
  page.on("request", request => { if (!request.url().startsWith("file:")) problems.push("request: " + request.url()); });
  await page.goto("file://" + report);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("script").count(), 1);
  assert.equal(await page.locator("article img, article script").count(), 0);

  const all = await page.locator("article:visible").count();
  assert.ok(all > 300, `${all} findings`);
  assert.ok(await page.locator("svg.lanes rect.waits").count() > 50);
  await page.locator("#rule").selectOption("AR101");
  const some = await page.locator("article:visible").count();
  assert.ok(some > 0 && some < all);
  assert.match(await page.locator("#shown").textContent(), new RegExp(`^${some} of ${all} shown$`));
  await page.locator("input[value=error]").uncheck();
  assert.equal(await page.locator("article:visible").count(), 0);
  await page.locator("input[value=error]").check();
  await page.locator("#rule").selectOption("");
  await page.keyboard.press("Tab");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.type("hacked");
  assert.equal(await page.locator("article:visible").count(), 1);
  await page.locator("#search").fill("");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => [...document.querySelectorAll("article")].indexOf(document.activeElement)), 1);
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => [...document.querySelectorAll("article")].indexOf(document.activeElement)), 0);
  assert.deepEqual(problems, []);
}

// Contrast of the text with what is behind it, by the formula of WCAG 2.
async function contrast(page, selector) {
  return page.evaluate(selector => {
    const light = css => css.match(/\d+/g).slice(0, 3).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const text = light(getComputedStyle(document.querySelector(selector)).color);
    const back = light(getComputedStyle(document.body).backgroundColor);
    return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  }, selector);
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  for (const scheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width: 1200, height: 900 } });
    await check(page, path.resolve(process.argv[2]));
    for (const selector of ["body", ".place", "article.error .code", "article.warning .code", ".note.condition"]) {
      const ratio = await contrast(page, selector);
      assert.ok(ratio >= 4.5, `${scheme} ${selector}: contrast ${ratio}`);
    }
    await page.screenshot({ path: path.join(process.argv[3], `report-${scheme}.png`) });
  }
  await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
