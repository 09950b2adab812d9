import { createRoute, type z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import type { ApiEnv } from "../env.server.ts";
import { idempotent } from "./idempotency.server.ts";
import { listOf, listQuery } from "./list.server.ts";
import { answers, idParam, takes } from "./schemas.server.ts";

/** Options that the routes of a resource share: who may call them, and the change that a write publishes. */
type Shared = { security?: { bearer: string[] }[]; middleware: MiddlewareHandler<ApiEnv>[] };

/** `GET /`: one page of a list, sought, filtered and sorted by `listQuery`. */
export const listRoute = <Item extends z.ZodType>(shared: Shared, item: Item, description: string) =>
  createRoute({
    method: "get",
    path: "/",
    ...shared,
    request: { query: listQuery },
    responses: { 200: answers(listOf(item), description) },
  });

/** `POST /`: creates an item. A request that is repeated with its `Idempotency-Key` creates nothing more. */
export const creationRoute = <Body extends z.ZodType, Item extends z.ZodType>(
  shared: Shared,
  body: Body,
  item: Item,
  description: string,
) =>
  createRoute({
    method: "post",
    path: "/",
    ...shared,
    middleware: [...shared.middleware, idempotent],
    request: { body: takes(body) },
    responses: { 201: answers(item, description) },
  });

/** `GET /{id}`: one item. */
export const itemRoute = <Item extends z.ZodType>(shared: Shared, item: Item, description: string) =>
  createRoute({
    method: "get",
    path: "/{id}",
    ...shared,
    request: { params: idParam },
    responses: { 200: answers(item, description) },
  });

/** Body of a PUT as our own pages have to give it: whole, as a field that is left out becomes its default. */
type Whole<Body extends z.ZodType> = z.ZodType<z.output<Body>, Required<z.input<Body>>>;

/** `PUT /{id}` replaces an item; `PATCH /{id}` changes the fields that it is given. */
export const changeRoute = <Method extends "put" | "patch", Body extends z.ZodType, Item extends z.ZodType>(
  method: Method,
  shared: Shared,
  body: Body,
  item: Item,
  description: string,
) =>
  createRoute({
    method,
    path: "/{id}",
    ...shared,
    request: { params: idParam, body: takes(body as Method extends "put" ? Whole<Body> : Body) },
    responses: { 200: answers(item, description) },
  });

/** `DELETE /{id}`: deletes an item; `description` says what is gone then. */
export const deletionRoute = (shared: Shared, description: string) =>
  createRoute({
    method: "delete",
    path: "/{id}",
    ...shared,
    request: { params: idParam },
    responses: { 204: { description } },
  });
