import { type ComponentType, lazy } from "react";

/**
 * A component that is loaded when it is first shown; to be put in a `Suspense`. If the line breaks just then, `instead` stands in its
 * place: an error would take the page away, with what is typed in it.
 */
export const lazily = <Props>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  instead: ComponentType<Props> = () => null,
) => lazy(() => load().catch(() => ({ default: instead })));
