import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { readHouse } from "../../db/house.server.ts";
import type { HouseRow } from "../../db/tables.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";

/** Sentence for a person who may not open rooms in this house; undefined if the person may. */
export function whyNotOpening({ opensRooms }: Pick<HouseRow, "opensRooms">, person: Person): string | undefined {
  if (opensRooms === "all" || (opensRooms === "admins" && isAdmin(person))) return undefined;
  return opensRooms === "nobody"
    ? "En esta casa no se abren salas. Lo decide quien administra."
    : "Aquí solo abre salas quien administra. Pídeselo, o que lo permita en «La casa».";
}

/** Whether the person may open rooms, so that nobody fills in a form to be refused. */
export const roomOpening = new OpenAPIHono<ApiEnv>().openapi(
  createRoute({
    method: "get",
    path: "/opening",
    security: bearer,
    middleware: [signedIn, active],
    responses: {
      200: answers(
        z.object({
          refusal: z.string().nullable().openapi({ description: "Por qué no puede abrir salas; null: puede." }),
        }),
        "Si la persona puede abrir salas en esta casa.",
      ),
    },
  }),
  async (c) => {
    const { services, person } = c.var;
    return c.json({ refusal: whyNotOpening(await readHouse(services.db), person) ?? null }, 200);
  },
);
