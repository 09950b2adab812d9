/** The days of the week in their order; the API counts them from one. */
export const weekdays = ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"];
