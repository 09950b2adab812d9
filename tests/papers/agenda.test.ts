import { expect, it } from "vitest";
import { readText } from "../../app/files/formats/read.server.ts";
import { documentTypes } from "../../app/files/formats/types.server.ts";

const read = async (lines: string[] | Buffer, type: string) => {
  const bytes = Buffer.isBuffer(lines) ? lines : Buffer.from(lines.join("\r\n"));
  const answer = await readText(bytes, type, 100_000);
  return "text" in answer ? answer.text : "";
};
const event = (...lines: string[]) => [
  "BEGIN:VCALENDAR",
  "BEGIN:VEVENT",
  ...lines,
  "BEGIN:VALARM",
  "TRIGGER:-PT15M",
  "DESCRIPTION:Recordatorio",
  "END:VALARM",
  "END:VEVENT",
  "END:VCALENDAR",
];

it("reads an invitation as an agenda shows it", async () => {
  const lines = event(
    "SUMMARY:Claustro\\, primer tri",
    " mestre",
    "DTSTART;TZID=Europe/Madrid:20260312T100000",
    "DTEND;TZID=Europe/Madrid:20260312T113000",
    "LOCATION:Sala de profesores\\; planta 2",
    'ORGANIZER;CN="Ruiz, Ana":mailto:ana@centro.es',
    "ATTENDEE;CN=Luis Gil;PARTSTAT=ACCEPTED:mailto:luis@centro.es",
    "ATTENDEE;PARTSTAT=DECLINED:mailto:eva@centro.es",
    "DESCRIPTION:Orden del día:\\n1. Acta",
  );
  expect(await read(lines, documentTypes.ics)).toBe(
    [
      "# Claustro, primer trimestre",
      "Cuándo: jueves, 12 de marzo de 2026, 10:00–11:30 (Europe/Madrid)",
      "Lugar: Sala de profesores; planta 2",
      "Organiza: Ruiz, Ana <ana@centro.es>",
      "Asisten: Luis Gil <luis@centro.es> (asiste), eva@centro.es (no asiste)",
      "Orden del día:",
      "1. Acta",
    ].join("\n"),
  );
});

it.each<[string, string[], string]>([
  ["a whole day", ["DTSTART;VALUE=DATE:20260106", "DTEND;VALUE=DATE:20260107"], "martes, 6 de enero de 2026"],
  [
    "several days",
    ["DTSTART;VALUE=DATE:20260330", "DTEND;VALUE=DATE:20260404"],
    "lunes, 30 de marzo de 2026 – viernes, 3 de abril de 2026",
  ],
  [
    "a duration",
    ["DTSTART:20260312T100000", "DURATION:PT1H30M"],
    "jueves, 12 de marzo de 2026, 10:00, dura 1 h 30 min",
  ],
  ["universal time", ["DTSTART:20260312T100000Z"], "jueves, 12 de marzo de 2026, 10:00 (UTC)"],
  ["Outlook's zones", ["DTSTART;TZID=Romance Standard Time:20260312T100000"], "jueves, 12 de marzo de 2026, 10:00"],
])("reads when an event is: %s", async (_what, lines, when) => {
  expect(await read(event("SUMMARY:Cita", ...lines), documentTypes.ics)).toBe(`# Cita\nCuándo: ${when}`);
});

it("shows universal time by the clock of the calendar", async () => {
  const lines = event("SUMMARY:Cita", "DTSTART:20260712T080000Z").toSpliced(1, 0, "X-WR-TIMEZONE:Europe/Madrid");
  expect(await read(lines, documentTypes.ics)).toContain("12 de julio de 2026, 10:00 (Europe/Madrid)");
});

it.each([
  [
    "FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20260630T000000Z",
    "cada semana, martes y jueves, hasta el martes, 30 de junio de 2026",
  ],
  ["FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO", "cada 2 meses, primer lunes"],
  ["FREQ=YEARLY;COUNT=3", "cada año, 3 veces"],
])("says in words how an event repeats: %s", async (rule, words) => {
  expect(await read(event("SUMMARY:Cita", `RRULE:${rule}`), documentTypes.ics)).toBe(`# Cita\nSe repite: ${words}`);
});

it("says that an event was called off", async () => {
  const lines = event("SUMMARY:Cita").toSpliced(1, 0, "METHOD:CANCEL");
  expect(await read(lines, documentTypes.ics)).toBe("# Cita\nEstado: anulado");
});

it("reads the people of an address book, also of an old telephone", async () => {
  const cards = [
    "BEGIN:VCARD",
    "VERSION:2.1",
    "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Mu=C3=B1oz;Bego=C3=B1a;;Dra.;",
    "TEL;CELL:600 11 22 33",
    "ADR;HOME;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:;;Calle de la Igles=",
    "ia 3, 2=C2=BA;Le=C3=B3n;;24001;Espa=C3=B1a",
    "PHOTO;ENCODING=BASE64;JPEG:AAAA",
    "END:VCARD",
    "BEGIN:VCARD",
    "VERSION:3.0",
    "FN:Taller Ibáñez\\, S.L.",
    "ORG:Taller Ibáñez;Recambios",
    "TITLE:Encargada",
    "item1.TEL;TYPE=WORK,VOICE:tel:+34910000000",
    "EMAIL;TYPE=INTERNET,WORK:taller@ibanez.es",
    "BDAY:1980-05-03",
    "NOTE:Cierra los lunes.\\nAvisar antes.",
    "END:VCARD",
  ];
  expect(await read(cards, documentTypes.vcf)).toBe(
    [
      "# Dra. Begoña Muñoz",
      "Teléfono (móvil): 600 11 22 33",
      "Dirección (casa): Calle de la Iglesia 3, 2º, León, 24001, España",
      "",
      "# Taller Ibáñez, S.L.",
      "Empresa: Taller Ibáñez, Recambios",
      "Cargo: Encargada",
      "Teléfono (trabajo): +34910000000",
      "Correo (trabajo): taller@ibanez.es",
      "Cumpleaños: 3 de mayo de 1980",
      "Nota: Cierra los lunes.\nAvisar antes.",
    ].join("\n"),
  );
});

it.each([documentTypes.ics, documentTypes.vcf])("keeps the text of a broken file of type %s", async (type) => {
  expect(await read(["nada: de nada"], type)).toBe("nada: de nada");
  expect(await read(["BEGIN:VCALENDAR", "BEGIN:VEVENT", "SUMMARY:Sin fin"], documentTypes.ics)).toBe("# Sin fin");
  expect(await read(["BEGIN:VCARD", "FN:Sin fin"], documentTypes.vcf)).toBe("# Sin fin");
});
