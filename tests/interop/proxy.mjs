// Adds the token to what comes in, and names the server as it is called there: `node proxy.mjs http://127.0.0.1:PORT/mcp`
// prints the port that it listens on.
import http from "node:http";

const target = new URL(process.argv[2]);
const proxy = http.createServer((request, response) => {
  const own = `:${proxy.address().port}`;
  const there = (value) => value?.replace(own, `:${target.port}`);
  const headers = { ...request.headers, host: there(request.headers.host), authorization: `Bearer ${process.env.HOST_MCP_TOKEN}` };
  if (headers.origin) headers.origin = there(headers.origin);
  const forwarded = http.request(
    { host: target.hostname, port: target.port, path: request.url, method: request.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  // Whoever goes away takes the other side along.
  forwarded.on("error", () => response.destroy());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
