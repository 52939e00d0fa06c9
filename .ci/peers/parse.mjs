// Renders a growing answer with one of the peers and tells the processor time of
// the whole process for one stream, in microseconds.
//
// Request: {"peer": "markdown-it" | "dompurify" | "streamdown", "pieces": [text, ...]}
// Answer:  {"us": number}
import { createInterface } from "node:readline";
import MarkdownIt from "markdown-it";
import createDOMPurify from "dompurify";
import { JSDOM } from "jsdom";
import { parseMarkdownIntoBlocks } from "streamdown";
import remend from "remend";
import { unified } from "unified";
import remarkParse from "remark-parse";
import remarkGfm from "remark-gfm";
import remarkRehype from "remark-rehype";
import rehypeSanitize from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";

const md = new MarkdownIt({ linkify: true });
const DOMPurify = createDOMPurify(new JSDOM("").window);
const remark = unified().use(remarkParse).use(remarkGfm).use(remarkRehype).use(rehypeSanitize).use(rehypeStringify).freeze();

let sink = 0; // keeps results alive

// markdown-it has no way to go on where it stopped: the whole text each time.
const markdownIt = () => (text) => {
  sink += md.render(text).length;
};

// The same, and every top-level block that changed through the sanitizer.
const dompurify = () => {
  const clean = new Map();
  let before = [];
  return (text) => {
    const env = {};
    const tokens = md.parse(text, env);
    const blocks = [];
    for (let i = 0, start = 0, depth = 0; i < tokens.length; i++) {
      depth += tokens[i].nesting;
      if (depth === 0) {
        blocks.push(md.renderer.render(tokens.slice(start, i + 1), md.options, env));
        start = i + 1;
      }
    }
    blocks.forEach((html, i) => {
      if (before[i] !== html) clean.set(i, DOMPurify.sanitize(html));
    });
    before = blocks;
    sink += clean.size;
  };
};

// What streamdown does without React: repair the open end, split into blocks,
// render the blocks that changed through remark with its sanitizer.
const streamdown = () => {
  let before = [];
  return (text) => {
    const blocks = parseMarkdownIntoBlocks(remend(text));
    blocks.forEach((block, i) => {
      if (before[i] !== block) sink += String(remark.processSync(block)).length;
    });
    before = blocks;
  };
};

const peers = { "markdown-it": markdownIt, dompurify, streamdown };

const stream = (peer, pieces) => {
  const render = peers[peer]();
  let text = "";
  for (const piece of pieces) render((text += piece));
};

for await (const line of createInterface({ input: process.stdin })) {
  const { peer, pieces } = JSON.parse(line);
  const before = process.cpuUsage();
  let streams = 0;
  let used;
  do {
    stream(peer, pieces);
    streams++;
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  } while (used < 500_000);
  console.log(JSON.stringify({ us: used / streams, sink }));
}
