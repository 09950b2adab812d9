import type { CompiledQuery, DialectAdapter, QueryResult } from "kysely";
import type { Db } from "./engine.server.ts";

/** Placeholder in a query for a value that is given when the query runs. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is built and compiled once for each engine, and run with new values each time: for the queries of every reply and every
 * request, building costs several times as much as running. `build` is given placeholders instead of the values, under the names of the
 * first call: it may only put them into the query, because it does not run again for other values. A value that is null is compared
 * like any other, so `is null` has to be written out.
 */
export function prepared<Values extends object, Row>(
  build: (db: Db, values: Values) => { compile(db: Db): CompiledQuery<Row> },
): (db: Db, values: Values) => Promise<QueryResult<Row>> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (db, values) => {
    const { adapter } = db.getExecutor();
    let query = compiled.get(adapter);
    if (!query) {
      const names = Object.keys(values).map((name) => [name, new Parameter(name)]);
      // The placeholders get the types of the values, so that the query is checked as if it held the values.
      query = build(db, Object.fromEntries(names) as Values).compile(db);
      compiled.set(adapter, query);
    }
    const given = new Map(Object.entries(values));
    const parameters = query.parameters.map((one) => (one instanceof Parameter ? given.get(one.name) : one));
    return db.executeQuery({ ...query, parameters });
  };
}
