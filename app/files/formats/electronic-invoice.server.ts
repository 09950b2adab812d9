import { type Element, elementsIn, elementsOf, firstIn, textWithin, treeOf } from "../../process/text/xml.server.ts";

/** Whether a file is an electronic invoice of the Spanish administration (facturae.gob.es), signed or not. */
export const isElectronicInvoice = (text: string): boolean =>
  /^\s{0,99}(?:<\?xml[^>]{0,200}>\s{0,99})?<(?:[\w-]{1,20}:)?Facturae[\s>]/.test(text.slice(0, 4_000));

/** The invoices of a file as they are printed: parties, lines, taxes, and how and when they are paid; empty if it has none. */
export function electronicInvoiceText(xml: string): string {
  // Some programs write a prefix before each name.
  const root = treeOf(xml.replace(/(<\/?)[\w-]{1,20}:(?=[A-Z])/g, "$1"));
  const parties = [
    ...partyText("Emisor", firstIn(root, "SellerParty")),
    ...partyText("Destinatario", firstIn(root, "BuyerParty")),
  ];
  return [...elementsIn(root, "Invoice")].map((invoice) => invoiceText(invoice, parties)).join("\n\n");
}

const said = (element: Element | undefined, name: string): string => {
  const found = firstIn(element, name);
  return found ? textWithin(found).trim() : "";
};
const row = (label: string, value: string) => (value ? [`${label}: ${value}`] : []);

const numbers = (digits: number) =>
  new Intl.NumberFormat("es", { minimumFractionDigits: digits, maximumFractionDigits: 6, useGrouping: "always" });
const written = (value: string, digits = 0) =>
  value && Number.isFinite(Number(value)) ? numbers(digits).format(Number(value)) : value;
const euros = (value: string, currency: string) => value && `${written(value, 2)} ${currency}`;
const day = (value: string) => value.replace(/^(\d{4})-(\d\d)-(\d\d).*$/, "$3/$2/$1");

const kinds: Record<string, string> = {
  ...{
    OR: "rectificativa",
    OC: "recapitulativa",
    CO: "copia",
    CR: "copia de una rectificativa",
    CC: "copia de una recapitulativa",
  },
};
const roles: Record<string, string> = {
  ...{ "01": "Oficina contable", "02": "Órgano gestor", "03": "Unidad tramitadora", "04": "Órgano proponente" },
};
const taxes: Record<string, string> = { ...{ "01": "IVA", "02": "IPSI", "03": "IGIC", "04": "IRPF" } };
const payments: Record<string, string> = {
  "01": "al contado",
  "02": "recibo domiciliado",
  "03": "recibo",
  "04": "transferencia",
  "05": "letra aceptada",
  "07": "contrato",
  "11": "cheque",
  "13": "en especie",
  "14": "compensación",
  "19": "tarjeta",
};

function partyText(label: string, party: Element | undefined): string[] {
  if (!party) return [];
  const person = firstIn(party, "Individual");
  const name = person
    ? ["Name", "FirstSurname", "SecondSurname"].map((part) => said(person, part))
    : [said(party, "CorporateName")];
  const address = firstIn(party, "AddressInSpain") ?? firstIn(party, "OverseasAddress");
  const place = [
    said(address, "Address"),
    `${said(address, "PostCode")}${said(address, "PostCodeAndTown")} ${said(address, "Town")}`,
  ];
  const centres = [...elementsIn(party, "AdministrativeCentre")].flatMap((centre) =>
    row(
      roles[said(centre, "RoleTypeCode")] ?? "Centro",
      [said(centre, "Name"), said(centre, "CentreCode")].filter(Boolean).join(", "),
    ),
  );
  return [
    `${label}: ${name.filter(Boolean).join(" ")}`,
    ...row("NIF", said(party, "TaxIdentificationNumber")),
    ...row("Dirección", [...place.map((one) => one.trim()), said(address, "Province")].filter(Boolean).join(", ")),
    ...centres,
    "",
  ];
}

function invoiceText(invoice: Element, parties: string[]): string {
  const code = said(invoice, "InvoiceCurrencyCode") || "EUR";
  const currency = code === "EUR" ? "€" : code;
  const parts = [
    headRows(invoice),
    ...[parties, lineRows(invoice, currency), totalRows(invoice, currency), paymentRows(invoice, currency)],
  ];
  return parts
    .map((rows) => rows.join("\n").trim())
    .filter(Boolean)
    .join("\n\n");
}

const childOf = (element: Element, name: string) => elementsOf(element).find((child) => child.name === name);

/** Series and number of an invoice, or of the one that it corrects. */
const called = (element: Element | undefined) =>
  ["InvoiceSeriesCode", "InvoiceNumber"]
    .flatMap((name) => (element && childOf(element, name)) ?? [])
    .map((part) => textWithin(part).trim())
    .join(" ");

function headRows(invoice: Element): string[] {
  const header = firstIn(invoice, "InvoiceHeader");
  const kind = kinds[said(header, "InvoiceClass")];
  const [from, to] = [said(invoice, "StartDate"), said(invoice, "EndDate")];
  const corrected = firstIn(header, "Corrective");
  return [
    `# Factura ${called(header)}${kind ? ` (${kind})` : ""}`,
    ...row("Fecha", day(said(invoice, "IssueDate"))),
    ...row("Fecha de la operación", day(said(invoice, "OperationDate"))),
    ...row("Periodo", from || to ? `del ${day(from)} al ${day(to)}` : ""),
    ...row("Rectifica la factura", called(corrected)),
    ...row("Motivo", said(corrected, "ReasonDescription")),
  ];
}

const lineRows = (invoice: Element, currency: string): string[] => [
  "Descripción | Cantidad | Precio | Impuesto | Importe",
  ...[...elementsIn(invoice, "InvoiceLine")].map((line) => {
    const code = said(line, "ArticleCode");
    const own = childOf(line, "TaxesOutputs");
    return [
      `${said(line, "ItemDescription")}${code && ` (${code})`}`,
      written(said(line, "Quantity")),
      euros(said(line, "UnitPriceWithoutTax"), currency),
      own ? [...elementsIn(own, "Tax")].map(taxName).join(", ") : "",
      euros(said(line, "GrossAmount") || said(line, "TotalCost"), currency),
    ].join(" | ");
  }),
];

const taxName = (tax: Element) => `${taxes[said(tax, "TaxTypeCode")] ?? "Impuesto"} ${written(said(tax, "TaxRate"))} %`;

function totalRows(invoice: Element, currency: string): string[] {
  const totals = firstIn(invoice, "InvoiceTotals");
  const total = (label: string, name: string) => row(label, euros(said(totals, name), currency));
  const changes = [...elementsIn(totals ?? invoice, "Discount", "Charge")].flatMap((one) => {
    const [label, reason] = one.name === "Discount" ? ["Descuento", "DiscountReason"] : ["Cargo", "ChargeReason"];
    const amount = said(one, "DiscountAmount") || said(one, "ChargeAmount");
    return row(`${label} ${said(one, reason)}`.trim(), euros(amount, currency));
  });
  const isOther = said(totals, "TotalExecutableAmount") !== said(totals, "InvoiceTotal");
  return [
    ...total("Importe bruto", "TotalGrossAmount"),
    ...changes,
    ...total("Base imponible", "TotalGrossAmountBeforeTaxes"),
    ...["TaxesOutputs", "TaxesWithheld"].flatMap((name) => taxesOf(invoice, name, currency)),
    ...(Number(said(totals, "TotalTaxesWithheld")) ? total("Retenciones", "TotalTaxesWithheld") : []),
    ...total("Total de la factura", "InvoiceTotal"),
    ...(isOther ? total("Total a pagar", "TotalExecutableAmount") : []),
  ];
}

const paymentRows = (invoice: Element, currency: string): string[] => [
  ...[...elementsIn(invoice, "Installment")].flatMap((one) => {
    const due = [day(said(one, "InstallmentDueDate")), euros(said(one, "InstallmentAmount"), currency)];
    return [
      ...row("Vencimiento", due.filter(Boolean).join(", ")),
      ...row("Forma de pago", payments[said(one, "PaymentMeans")] ?? ""),
      ...row("Cuenta", said(one, "IBAN").replace(/(.{4})(?=.)/g, "$1 ")),
    ];
  }),
  ...row("Observaciones", said(invoice, "InvoiceAdditionalInformation")),
  ...[...elementsIn(invoice, "LegalReference")].map(textWithin),
];

/** The taxes of a whole invoice; its lines have their own. */
function taxesOf(invoice: Element, name: string, currency: string): string[] {
  const own = childOf(invoice, name);
  if (!own) return [];
  return [...elementsIn(own, "Tax")].map((tax) => {
    const [base, amount] = [firstIn(tax, "TaxableBase"), firstIn(tax, "TaxAmount")];
    const onBase = base ? ` sobre ${euros(said(base, "TotalAmount"), currency)}` : "";
    return `${taxName(tax)}${onBase}: ${euros(said(amount, "TotalAmount"), currency)}`;
  });
}
