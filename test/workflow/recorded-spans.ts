import { onTestFinished } from 'vitest';
import { type Facts, setTracer, type Work } from '../../src/observability/trace.ts';

/** The current span of every piece of work, as `traceHere` returns it. */
export const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Traces the rest of the test. Returns the spans and the facts that were added to them. */
export function recordSpans() {
  const spans: Work[] = [];
  const notes: Facts[] = [];
  setTracer({
    traced: (work, run) => {
      spans.push(work);
      return run();
    },
    past: () => undefined,
    note: (facts) => void notes.push(facts),
    outsideTrace: (run) => run(),
    ids: () => null,
    here: () => TRACEPARENT,
  });
  onTestFinished(() => setTracer(null));
  return { notes, named: (name: string) => spans.filter((span) => span.name === name) };
}
