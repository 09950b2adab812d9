import { knownZone } from "../../process/time-zones.server.ts";
import type { OwnTool } from "../tool.server.ts";

/** The present moment in words, in a time zone. */
export function nowInWords(zone: string, now = Date.now()): string {
  const date = new Intl.DateTimeFormat("es", { dateStyle: "full", timeZone: zone }).format(now);
  const hour = new Intl.DateTimeFormat("es", { timeStyle: "short", timeZone: zone }).format(now);
  return `${date}, ${hour} (${zone})`;
}

/** «Fecha y hora». */
export const time: OwnTool = {
  tool: "fecha_y_hora",
  label: "Fecha y hora",
  description: "Dice qué día y qué hora es ahora, en la zona horaria de la persona o en otra.",
  schema: {
    type: "object",
    properties: {
      zona: {
        type: "string",
        title: "Zona horaria",
        description: "Como Europe/Madrid o America/Bogota. Sin ella, la de la persona.",
      },
    },
  },
  reachesOut: false,
  call: async ({ zona }, { zone }) => {
    const asked = typeof zona === "string" && zona ? zona : zone;
    const known = knownZone(asked);
    const unknown = asked && known === "UTC" && asked.toUpperCase() !== "UTC";
    return { text: `${nowInWords(known)}${unknown ? ` No existe la zona «${asked}».` : ""}` };
  },
};
