/**
 * A traced operation. Without a configured tracer these functions only run the work. Names and
 * values come from closed lists; texts of users or servers never go into a trace.
 */
export interface Work {
  readonly name: string;
  /** `server`: a caller waits. `consumer`: the work comes from a queue. `client`: an outgoing call. */
  readonly kind?: 'server' | 'consumer' | 'client';
  readonly facts?: Facts;
  /** The parent span as `traceHere` returned it, possibly in another replica. */
  readonly from?: string | null;
}

/** Attributes with OpenTelemetry names, or own names that begin with `signalbox.`. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** The fields that connect log lines with traces. */
interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

export interface Tracer {
  readonly traced: <T>(work: Work, run: () => Promise<T>) => Promise<T>;
  readonly past: (work: Work, tookMs: number) => void;
  readonly note: (facts: Facts, name?: string) => void;
  readonly outsideTrace: <T>(run: () => T) => T;
  readonly ids: () => TraceIds | null;
  readonly here: () => string | null;
}

// One tracer per process, like the log, so that it need not be passed through every call.
let tracer: Tracer | null = null;

/** Sets the tracer of the process; null switches tracing off. */
export function setTracer(next: Tracer | null): void {
  tracer = next;
}

/** Runs the work in a new span: a child of the current span, or the root of a new trace. */
export function traced<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return tracer ? tracer.traced(work, run) : run();
}

/** Runs the work in a child of the current span; without a current span it is not traced. */
export function step<T>(work: Work, run: () => Promise<T>): Promise<T> {
  return tracer?.here() ? tracer.traced(work, run) : run();
}

/** Records a child span for work that has already ended. */
export function pastStep(work: Work, tookMs: number): void {
  if (tracer?.here()) tracer.past(work, tookMs);
}

/** Adds attributes to the current span and optionally renames it; `error.type` marks it as failed. */
export function note(facts: Facts, name?: string): void {
  tracer?.note(facts, name);
}

/** Runs background work outside the current trace. */
export function outsideTrace<T>(run: () => T): T {
  return tracer ? tracer.outsideTrace(run) : run();
}

/** The current span as a traceparent text, to continue the trace later; undefined without one. */
export function traceHere(): string | undefined {
  return tracer?.here() ?? undefined;
}

/** Empty unless the current span is sampled. */
export function traceIds(): TraceIds | Record<string, never> {
  return tracer?.ids() ?? {};
}

export function isTracing(): boolean {
  return tracer !== null;
}
