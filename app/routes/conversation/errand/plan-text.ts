type Plan = { title: string; searches: string[] }[];

/** A plan as people write it: a line for each part, and below it its searches, each behind a dash. */
export const planAsText = (plan: Plan): string =>
  plan.map(({ title, searches }) => [title, ...searches.map((one) => `- ${one}`)].join("\n")).join("\n\n");

/** The plan in such lines. A search before the first part becomes a part of its own. */
export function planFromText(text: string): Plan {
  const plan: Plan = [];
  for (const line of text.split("\n").map((one) => one.trim())) {
    const search = /^[-*•]\s/.test(line) ? line.slice(2).trim() : undefined;
    if (search && plan.length > 0) plan.at(-1)?.searches.push(search);
    else if (line) plan.push({ title: (search ?? line).replace(/^\d{1,2}[.)]\s+/, ""), searches: [] });
  }
  return plan;
}
