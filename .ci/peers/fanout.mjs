// An event stream server on Node's http: a timer for each listener. It reads the
// events a second that each listener gets, tells its address, and begins with the
// events at the next line.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const rest = `~${"0".repeat(120)}\n\n`;
const listeners = [];
let interval = 0;

const begin = (res) => {
  let due = Date.now() + Math.random() * interval;
  const send = () => {
    const ns = BigInt(Math.round(due * 1000)) * 1000n;
    res.write(`id: 1.2.3\ndata: due=${ns}${rest}`);
    due += interval;
    timer = setTimeout(send, Math.max(0, due - Date.now()));
  };
  let timer = setTimeout(send, due - Date.now());
  res.on("close", () => clearTimeout(timer));
};

const server = createServer((req, res) => {
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  res.flushHeaders();
  if (req.url === "/bench/events") listeners.push(res);
});
server.on("clientError", (_, socket) => socket.destroy());

for await (const line of createInterface({ input: process.stdin })) {
  if (interval === 0) {
    interval = 1000 / JSON.parse(line);
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(JSON.stringify(`127.0.0.1:${server.address().port}`)));
  } else {
    listeners.forEach(begin);
    console.log("true");
  }
}
process.exit(0);
