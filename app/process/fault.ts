import { recordOf } from "./text/json.ts";

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Parts of a thrown value, whatever made it: texts that the value lacks are empty, numbers 0. `code` is set by Node, PostgreSQL and
 * their libraries, `errcode` by SQLite.
 */
export function faultOf(error: unknown): { name: string; message: string; code: string; errcode: number } {
  const { name, message, code, errcode } = recordOf(error) ?? {};
  return {
    ...{ name: textIn(name), message: textIn(message), code: textIn(code) },
    errcode: typeof errcode === "number" ? errcode : 0,
  };
}
