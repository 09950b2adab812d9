import { recordOf } from "./text/json.ts";

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Parts of something that was thrown, whoever made it: texts are empty and numbers 0 where it does not say them. `code` is of Node,
 * PostgreSQL and their libraries, `errcode` of SQLite.
 */
export function faultOf(error: unknown): { name: string; message: string; code: string; errcode: number } {
  const { name, message, code, errcode } = recordOf(error) ?? {};
  return {
    ...{ name: textIn(name), message: textIn(message), code: textIn(code) },
    errcode: typeof errcode === "number" ? errcode : 0,
  };
}
