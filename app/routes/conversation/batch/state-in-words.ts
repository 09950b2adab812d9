type Batch = { state: "running" | "paused" | "stopped" | "done"; total: number; answered: number; failed: number };

const states = { running: "en marcha", paused: "en pausa", stopped: "parada", done: "terminada" };

/** How a series of questions goes: «en marcha, 12 de 40, 2 han fallado». */
export function stateInWords({ state, total, answered, failed }: Batch): string {
  const gone = `${answered.toLocaleString("es")} de ${total.toLocaleString("es")}`;
  const failures = failed === 1 ? "1 ha fallado" : `${failed.toLocaleString("es")} han fallado`;
  return [states[state], gone, ...(failed > 0 ? [failures] : [])].join(", ");
}
