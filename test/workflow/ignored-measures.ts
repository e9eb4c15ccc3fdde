import type { Measures } from '../../src/base/log.ts';

/** Counts nothing, except what a test puts in. */
export const ignoredMeasures = new Proxy({} as Measures, {
  get: (own, name) => Reflect.get(own, name) ?? (() => undefined),
});
