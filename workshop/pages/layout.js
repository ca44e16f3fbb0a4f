// node layout.js PAGE…: each page in Chromium at 1280 and at 400 px, light and dark, everything unfolded, without the network. Fails
// where the page is wider than its window, where a table is cut off on a desktop, where a text of a chart leaves its drawing or lies on
// another, and where a chart says a label twice. PICTURES=FOLDER also takes a picture of each as it opens, and writes it as printed.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const pages = process.argv.slice(2);
if (pages.length === 0) throw new Error("no page was named");
const pictures = process.env.PICTURES;
const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

// Runs in the page: what is wrong with its layout, a line each.
function complaints() {
  const said = [];
  const isDesktop = innerWidth >= 1000;
  document.querySelectorAll("details").forEach((part) => (part.open = true));
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) said.push(`the page is ${scrollWidth - clientWidth} px wider than its window`);
  // A phone scrolls a wide table; a desktop must not have to.
  for (const table of document.querySelectorAll(".scroll")) {
    const hidden = table.scrollWidth - table.clientWidth;
    if (isDesktop && hidden > 0) said.push(`${table.ariaLabel}: ${hidden} px of it are cut off`);
  }
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const name = svg.querySelector("title").textContent;
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ text, words: text.textContent, box: text.getBoundingClientRect() }));
    const cut = texts.find(({ words }) => words.includes("…"));
    if (isDesktop && cut) said.push(`${name}: '${cut.words}' is cut off`);
    for (const [index, { words, box }] of texts.entries()) {
      const isInside =
        box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      if (!isInside) said.push(`${name}: '${words}' leaves its drawing`);
      for (const other of texts.slice(index + 1)) {
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 1 && down > 3) said.push(`${name}: '${words}' lies on '${other.words}'`);
      }
    }
    // The name of a row stands below that of its group.
    let group = "";
    const labels = new Set();
    const names = texts.filter(({ text }) => text.matches(".name, .group")).sort((one, other) => one.box.top - other.box.top);
    for (const { text, words } of names) {
      if (text.matches(".group")) group = `${words}: `;
      const label = text.matches(".group") ? group : group + words;
      if (labels.has(label)) said.push(`${name}: '${label}' twice`);
      labels.add(label);
    }
  }
  return said;
}

let count = 0;
const tab = await browser.newPage({ offline: true });
for (const page of pages) {
  const picture = pictures && join(pictures, basename(page, ".html"));
  await tab.goto(`file://${resolve(page)}`);
  for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) {
    await tab.setViewportSize({ width, height: 900 });
    await tab.emulateMedia({ colorScheme });
    if (picture) await tab.screenshot({ path: `${picture}.${width}.${colorScheme}.png`, fullPage: true });
  }
  if (picture) await tab.pdf({ path: `${picture}.pdf` });
  for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) {
    await tab.setViewportSize({ width, height: 900 });
    await tab.emulateMedia({ colorScheme });
    for (const complaint of await tab.evaluate(complaints)) {
      count += 1;
      console.log(`${page}, ${width} px, ${colorScheme}: ${complaint}`);
    }
  }
}
await browser.close();
console.log(`${pages.length} pages, ${count} complaints about their layout`);
process.exit(count === 0 ? 0 : 1);
