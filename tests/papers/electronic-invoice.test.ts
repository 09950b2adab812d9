import { expect, it } from "vitest";
import { readText } from "../../app/files/formats/read.server.ts";

const party = (name: string, given: string, code: string) =>
  `<${name}><TaxIdentification><TaxIdentificationNumber>${code}</TaxIdentificationNumber></TaxIdentification>${given}<AddressInSpain><Address>C/ Mayor 3</Address><PostCode>50001</PostCode><Town>Zaragoza</Town><Province>Zaragoza</Province></AddressInSpain></${name}>`;
const tax = (code: string, rate: string, base: string, amount: string) =>
  `<Tax><TaxTypeCode>${code}</TaxTypeCode><TaxRate>${rate}</TaxRate><TaxableBase><TotalAmount>${base}</TotalAmount></TaxableBase><TaxAmount><TotalAmount>${amount}</TotalAmount></TaxAmount></Tax>`;
const seller = party(
  "SellerParty",
  "<Individual><Name>Ana</Name><FirstSurname>Ruiz</FirstSurname><SecondSurname>Gil</SecondSurname></Individual>",
  "12345678Z",
);
const buyer = party(
  "BuyerParty",
  "<AdministrativeCentres><AdministrativeCentre><CentreCode>L01</CentreCode><RoleTypeCode>01</RoleTypeCode><Name>Intervención</Name></AdministrativeCentre></AdministrativeCentres><LegalEntity><CorporateName>AYUNTAMIENTO</CorporateName></LegalEntity>",
  "P5000000A",
);
const invoice = `<?xml version="1.0" encoding="UTF-8"?><fe:Facturae xmlns:fe="http://www.facturae.gob.es/formato/Versiones/Facturaev3_2_2.xml"><Parties>${seller}${buyer}</Parties><Invoices><Invoice><InvoiceHeader><InvoiceNumber>7</InvoiceNumber><InvoiceSeriesCode>A</InvoiceSeriesCode><InvoiceClass>OR</InvoiceClass><Corrective><InvoiceNumber>5</InvoiceNumber><InvoiceSeriesCode>Z</InvoiceSeriesCode></Corrective></InvoiceHeader><InvoiceIssueData><IssueDate>2026-03-23</IssueDate><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode></InvoiceIssueData><TaxesOutputs>${tax("01", "21.00", "1000.00", "210.00")}</TaxesOutputs><TaxesWithheld>${tax("04", "15.00", "1000.00", "150.00")}</TaxesWithheld><InvoiceTotals><TotalGrossAmount>1000.00</TotalGrossAmount><TotalGrossAmountBeforeTaxes>1000.00</TotalGrossAmountBeforeTaxes><TotalTaxesWithheld>150.00</TotalTaxesWithheld><InvoiceTotal>1060.00</InvoiceTotal><TotalExecutableAmount>1060.00</TotalExecutableAmount></InvoiceTotals><Items><InvoiceLine><ItemDescription>Traducción</ItemDescription><Quantity>2000.0</Quantity><UnitPriceWithoutTax>0.500000</UnitPriceWithoutTax><GrossAmount>1000.000000</GrossAmount><TaxesOutputs>${tax("01", "21.00", "1000.00", "210.00")}</TaxesOutputs><ArticleCode>T-1</ArticleCode></InvoiceLine></Items><PaymentDetails><Installment><InstallmentDueDate>2026-04-22</InstallmentDueDate><InstallmentAmount>1060.00</InstallmentAmount><PaymentMeans>04</PaymentMeans><AccountToBeCredited><IBAN>ES9121000418450200051332</IBAN></AccountToBeCredited></Installment></PaymentDetails></Invoice></Invoices></fe:Facturae>`;

const read = async (xml: string) => {
  const answer = await readText(Buffer.from(xml), "text/plain", 100_000);
  return "text" in answer ? answer.text : "";
};

it("reads an electronic invoice as it is printed", async () => {
  expect(await read(invoice)).toBe(`# Factura A 7 (rectificativa)
Fecha: 23/03/2026
Rectifica la factura: Z 5

Emisor: Ana Ruiz Gil
NIF: 12345678Z
Dirección: C/ Mayor 3, 50001 Zaragoza, Zaragoza

Destinatario: AYUNTAMIENTO
NIF: P5000000A
Dirección: C/ Mayor 3, 50001 Zaragoza, Zaragoza
Oficina contable: Intervención, L01

Descripción | Cantidad | Precio | Impuesto | Importe
Traducción (T-1) | 2.000 | 0,50 € | IVA 21 % | 1.000,00 €

Importe bruto: 1.000,00 €
Base imponible: 1.000,00 €
IVA 21 % sobre 1.000,00 €: 210,00 €
IRPF 15 % sobre 1.000,00 €: 150,00 €
Retenciones: 150,00 €
Total de la factura: 1.060,00 €

Vencimiento: 22/04/2026, 1.060,00 €
Forma de pago: transferencia
Cuenta: ES91 2100 0418 4502 0005 1332`);
});

it("reads an invoice whose names all have a prefix, and keeps other XML as it is", async () => {
  const prefixed = invoice.replace(/(<\/?)(?=[A-Z])/g, "$1f:");
  expect(await read(prefixed)).toContain("Total de la factura: 1.060,00 €");
  expect(await read("<pedido><total>5.00</total></pedido>")).toBe("<pedido><total>5.00</total></pedido>");
});

it.each([
  "Un ejemplo: <fe:Facturae xmlns:fe='x'><Invoices><Invoice/></Invoices></fe:Facturae>",
  '<?xml version="1.0"?><Facturae><FileHeader>1</FileHeader></Facturae>',
])("keeps a text that speaks of invoices or has none: %s", async (text) => {
  expect(await read(text)).toBe(text);
});

it("reads what there is of a broken invoice", async () => {
  expect(await read(invoice.slice(0, invoice.indexOf("<InvoiceTotals>")))).toContain("# Factura A 7");
});
