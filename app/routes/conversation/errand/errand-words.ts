export const stateWords = {
  planning: "Preparando el plan",
  planned: "El plan espera tu visto bueno",
  running: "En marcha",
  paused: "En pausa",
  stopped: "Parado",
  done: "Hecho",
} as const;

export const placeNames = ["both", "web", "documents"] as const;

/** The choice that stands for some places. */
export const placeNameOf = (places: string[]): (typeof placeNames)[number] =>
  places.length > 1 ? "both" : places[0] === "web" ? "web" : "documents";

/** Places that one choice stands for. */
export const placesOf = (name: (typeof placeNames)[number]): ("web" | "documents")[] =>
  name === "both" ? ["web", "documents"] : [name];
