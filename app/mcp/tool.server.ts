import type { CallToolResult, McpServer, ServerContext, ToolAnnotations } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { type OwnApi, Refused } from "./own-api.server.ts";

/** A tool that programs are offered, ready to be registered for one of them. */
export type McpTool = (server: McpServer, own: OwnApi) => void;

type Definition<Input extends z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  input: Input;
  run(own: OwnApi, input: z.output<Input>, context: ServerContext): Promise<CallToolResult>;
};

/** Makes a tool of its definition. A refusal of the API is told to the program as the tool's failure, in the API's words. */
export const toolOf =
  <Input extends z.ZodObject>({ name, input, run, ...about }: Definition<Input>): McpTool =>
  (server, own) => {
    server.registerTool(name, { ...about, inputSchema: input as z.ZodObject }, async (given, context) => {
      try {
        return await run(own, given as z.output<Input>, context);
      } catch (error) {
        if (error instanceof Refused) return { ...said(error.message), isError: true };
        throw error;
      }
    });
  };

/** A result that is a text. */
export const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A day as YYYY-MM-DD, which models read without doubt. */
export const day = (at: string) => at.slice(0, 10);

export const excerptOf = (excerpt: { text: string }[]) =>
  excerpt
    .map(({ text }) => text)
    .join("")
    .replace(/\s+/g, " ");
