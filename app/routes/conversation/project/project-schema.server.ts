import { z } from "zod";

/** The shape of the form of a project; its rules are the API's. */
export const projectForm = z.object({
  name: z.string().default(""),
  description: z.string().default(""),
  instructions: z.string().default(""),
});
