// The floor of the load bench: passes a model's answer on, byte for byte, and does nothing else.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const [model = ""] = process.argv.slice(2);
const http = createServer((asked, response) => {
  const headers = { "Content-Type": "application/json" };
  const upstream = request(`${model}/chat/completions`, { method: "POST", headers }, (answer) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    answer.pipe(response);
  });
  asked.pipe(upstream);
});
http.listen(0, "127.0.0.1", 4096, () => console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}`));
