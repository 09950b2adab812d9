// Programs' own clients, each asking at the door it was made for: `tests/contract/clients.long.test.ts`.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, tool as agentTool, run, setDefaultOpenAIClient, setTracingDisabled } from "@openai/agents";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { z } from "zod";

const schema = {
  type: "object",
  properties: { ciudad: { type: "string" } },
  required: ["ciudad"],
  additionalProperties: false,
};
const weather = async () => "Llueve";

/** Ways of asking, of each client: `text`, `stream` and `tools` answer with the words, `picture` too; `error` with a status. */
export function clientsAt(url, apiKey, model, picture) {
  const baseURL = `${url}/v1`;
  const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
  const given = { apiKey, baseURL };
  const image = `data:image/png;base64,${picture}`;
  return {
    "openai, chat completions": completions(openai, model, image),
    "openai, responses": responses(openai, model, image),
    "@anthropic-ai/sdk": messages(anthropic, model, picture),
    "ai, @ai-sdk/openai": vercel(createOpenAI(given)(model), picture),
    "ai, @ai-sdk/anthropic": vercel(createAnthropic(given)(model), picture),
    "ai, @ai-sdk/openai-compatible": vercel(createOpenAICompatible({ ...given, name: "casa" })(model), picture),
    "@openai/agents": agents(openai, model, image),
    ollama: ollama(
      new Ollama({ host: `${baseURL}/ollama`, headers: { Authorization: `Bearer ${apiKey}` } }),
      model,
      picture,
    ),
    "langchain, chat completions": langchain({ model, apiKey }, baseURL, image),
    "langchain, responses": langchain({ model, apiKey, useResponsesApi: true }, baseURL, image),
  };
}

const failed = (asked) =>
  asked.then(
    () => "no error",
    (error) => error.status ?? error.statusCode ?? error.code,
  );

function completions(client, model, image) {
  const ask = (content, more) =>
    client.chat.completions.create({ model, messages: [{ role: "user", content }], ...more });
  const said = async (asked) => (await asked).choices[0].message.content;
  const runner = {
    type: "function",
    function: { name: "tiempo", parameters: schema, parse: JSON.parse, function: weather },
  };
  return {
    text: (content) => said(ask(content)),
    async stream(content) {
      let text = "";
      for await (const { choices } of await ask(content, { stream: true })) text += choices[0]?.delta.content ?? "";
      return text;
    },
    tools: (content) =>
      client.chat.completions
        .runTools({ model, messages: [{ role: "user", content }], tools: [runner] })
        .finalContent(),
    picture: (text) =>
      said(
        ask([
          { type: "text", text },
          { type: "image_url", image_url: { url: image } },
        ]),
      ),
    error: (content) => failed(ask(content)),
  };
}

function ollama(client, model, picture) {
  const ask = (content, { images, ...more } = {}) =>
    client.chat({ model, messages: [{ role: "user", content, ...(images && { images }) }], ...more });
  const said = async (asked) => (await asked).message.content;
  const tools = [{ type: "function", function: { name: "tiempo", description: "El tiempo", parameters: schema } }];
  return {
    text: (content) => said(ask(content)),
    async stream(content) {
      let text = "";
      for await (const { message } of await ask(content, { stream: true })) text += message.content;
      return text;
    },
    async tools(content) {
      const { message } = await ask(content, { tools });
      const found = message.tool_calls.map(async ({ function: { name } }) => ({
        ...{ role: "tool", tool_name: name, content: await weather() },
      }));
      const messages = [{ role: "user", content }, message, ...(await Promise.all(found))];
      return said(client.chat({ model, messages, tools }));
    },
    picture: (text) => said(ask(text, { images: [picture] })),
    error: async (content) => {
      const error = await ask(content).catch((reason) => reason);
      return error.status_code;
    },
  };
}

function responses(client, model, image) {
  const ask = async (input, more) => client.responses.create({ model, input, ...more });
  const said = async (asked) => (await asked).output_text;
  const tools = [{ type: "function", name: "tiempo", parameters: schema, strict: true }];
  return {
    text: (input) => said(ask(input)),
    stream: async (input) => (await client.responses.stream({ model, input }).finalResponse()).output_text,
    async tools(input) {
      const first = await ask(input, { tools });
      const calls = first.output.filter(({ type }) => type === "function_call");
      const found = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "Llueve" }));
      return said(ask(found, { tools, previous_response_id: first.id }));
    },
    picture: (text) =>
      said(
        ask([
          {
            role: "user",
            content: [
              { type: "input_text", text },
              { type: "input_image", image_url: image },
            ],
          },
        ]),
      ),
    error: (input) => failed(ask(input)),
  };
}

function messages(client, model, data) {
  const ask = async (content, more) =>
    client.messages.create({ model, max_tokens: 500, messages: [{ role: "user", content }], ...more });
  const words = ({ content }) => content.map(({ text = "" }) => text).join("");
  const tools = [{ name: "tiempo", input_schema: schema }];
  return {
    text: async (content) => words(await ask(content)),
    async stream(content) {
      const stream = client.messages.stream({ model, max_tokens: 500, messages: [{ role: "user", content }] });
      return words(await stream.finalMessage());
    },
    async tools(content) {
      const { content: called } = await ask(content, { tools });
      const found = called.flatMap(({ type, id }) =>
        type === "tool_use" ? [{ type: "tool_result", tool_use_id: id, content: "Llueve" }] : [],
      );
      const turns = [
        { role: "user", content },
        { role: "assistant", content: called },
        { role: "user", content: found },
      ];
      return words(await ask(content, { tools, messages: turns }));
    },
    picture: async (text) =>
      words(
        await ask([
          { type: "text", text },
          { type: "image", source: { type: "base64", media_type: "image/png", data } },
        ]),
      ),
    error: (content) => failed(ask(content)),
  };
}

function vercel(model, image) {
  const asked = { model, maxRetries: 0, maxOutputTokens: 500 };
  const tools = { tiempo: tool({ inputSchema: jsonSchema(schema), execute: weather }) };
  const ask = (more) => generateText({ ...asked, ...more });
  return {
    text: async (prompt) => (await ask({ prompt })).text,
    stream: async (prompt) => streamText({ ...asked, prompt }).text,
    tools: async (prompt) => (await ask({ prompt, tools, stopWhen: stepCountIs(4) })).text,
    async picture(text) {
      const content = [
        { type: "text", text },
        { type: "image", image },
      ];
      return (await ask({ messages: [{ role: "user", content }] })).text;
    },
    error: (prompt) => failed(ask({ prompt })),
  };
}

function agents(client, model, image) {
  setTracingDisabled(true);
  setDefaultOpenAIClient(client);
  const parameters = z.object({ ciudad: z.string() });
  const tools = [agentTool({ name: "tiempo", description: "El tiempo de una ciudad", parameters, execute: weather })];
  const agent = new Agent({ name: "Ayudante", model, instructions: "Ayuda.", tools });
  const ask = async (input) => (await run(agent, input)).finalOutput;
  return {
    text: ask,
    async stream(input) {
      const stream = await run(agent, input, { stream: true });
      let text = "";
      for await (const piece of stream.toTextStream()) text += piece;
      await stream.completed;
      return text;
    },
    tools: ask,
    picture: (text) =>
      ask([
        {
          role: "user",
          content: [
            { type: "input_text", text },
            { type: "input_image", image },
          ],
        },
      ]),
    error: (input) => failed(ask(input)),
  };
}

function langchain(given, baseURL, image) {
  const chat = new ChatOpenAI({ ...given, maxRetries: 0, configuration: { baseURL } });
  const bound = chat.bindTools([{ type: "function", function: { name: "tiempo", parameters: schema } }]);
  return {
    text: async (content) => (await chat.invoke(content)).text,
    async stream(content) {
      let text = "";
      for await (const piece of await chat.stream(content)) text += piece.text;
      return text;
    },
    async tools(content) {
      const called = await bound.invoke(content);
      const found = called.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "Llueve" }));
      return (await bound.invoke([{ role: "user", content }, called, ...found])).text;
    },
    async picture(text) {
      const content = [
        { type: "text", text },
        { type: "image_url", image_url: { url: image } },
      ];
      return (await chat.invoke([{ role: "user", content }])).text;
    },
    error: (content) => failed(chat.invoke(content)),
  };
}
