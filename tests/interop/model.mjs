// A scripted model for other agents, in the wire formats of Gemini and of OpenAI's responses: it calls one tool of the
// server `host`, and then repeats what the call returned. `node model.mjs TOOL ARGUMENTS` prints the port that it listens on.
import http from "node:http";

const [wanted, text] = process.argv.slice(2);
const said = (value) => `THE TOOL SAID ${JSON.stringify(value)}`;

// What the agent calls the tool: its name, which the agent may have put the server's before.
const named = (tools) => tools.find(({ name, namespace = "" }) => `${namespace}${name}`.includes("host") && name.endsWith(wanted));

function gemini(body) {
  const results = (body.contents ?? []).flatMap(({ parts }) => parts ?? []).filter((part) => part.functionResponse);
  const tool = named((body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []));
  const part = results.length
    ? { text: said(results.at(-1).functionResponse.response) }
    : tool ? { functionCall: { name: tool.name, args: JSON.parse(text) } } : { text: "there is no such tool" };
  const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  return [{ candidates: [candidate], usageMetadata }];
}

function responses(body) {
  const results = (body.input ?? []).filter(({ type }) => type === "function_call_output");
  const inside = ({ type, name, tools }) => (type === "namespace" ? tools.map((tool) => ({ name: tool.name, namespace: name })) : [{ name: name ?? "" }]);
  const tool = named((body.tools ?? []).flatMap(inside));
  const message = (text) => ({ type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text }] });
  const item = results.length
    ? message(said(results.at(-1).output))
    : tool ? { type: "function_call", id: "f", call_id: "c", arguments: text, ...tool } : message("there is no such tool");
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage } },
  ];
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const speak = request.url.includes("/responses") ? responses : request.url.includes("GenerateContent") ? gemini : undefined;
    if (!speak) return response.writeHead(404).end();
    response.setHeader("content-type", "text/event-stream");
    for (const event of speak(JSON.parse(Buffer.concat(chunks).toString()))) {
      response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
