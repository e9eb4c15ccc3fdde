import { setImmediate as later } from 'node:timers/promises';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';
import {
  createLog,
  note,
  outsideTrace,
  pastStep,
  step,
  traced,
  traceHere,
} from '../../src/base/log.ts';

function openTracer(ratio = 1) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(provider);
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const spans = () => exporter.getFinishedSpans();
  return { spans, one: (name: string) => spans().find((span) => span.name === name) };
}

/** The fields of a log line that connect it with the current trace. */
function idsInLog() {
  const lines: string[] = [];
  createLog({ level: 'info' }, { write: (line) => void lines.push(line) }).info('a line');
  const { trace_id, span_id } = JSON.parse(lines[0] ?? '');
  return { trace_id, span_id };
}

test('without an SDK only the work runs', async () => {
  expect(await step({ name: 'step' }, async () => 7)).toBe(7);
  expect(outsideTrace(() => 7)).toBe(7);
  expect(idsInLog()).toEqual({});
  expect(() => note({ 'signalbox.ending': 'answered' })).not.toThrow();
});

test('a step is a child of its work, also after awaits', async () => {
  const { spans } = openTracer();
  const work = async (name: string) => {
    await later();
    await step({ name: `step of ${name}` }, later);
    pastStep({ name: `call of ${name}`, facts: { 'http.response.status_code': 200 } }, 12);
  };
  await Promise.all(['one', 'two'].map((name) => traced({ name }, () => work(name))));
  for (const name of ['one', 'two']) {
    const own = spans().find((span) => span.name === name);
    const below = spans().filter((span) => span.name.endsWith(`of ${name}`));
    expect(below.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      own?.spanContext().spanId,
      own?.spanContext().spanId,
    ]);
  }
});

test('a step without a current trace is not recorded', async () => {
  const { spans } = openTracer();
  await step({ name: 'transaction' }, later);
  pastStep({ name: 'call' }, 12);
  expect(spans()).toEqual([]);
});

test('background work is not part of the trace that started it', async () => {
  const { one } = openTracer();
  await traced({ name: 'click' }, () => outsideTrace(() => traced({ name: 'lane' }, later)));
  expect(one('lane')?.parentSpanContext).toBeUndefined();
  expect(one('lane')?.spanContext().traceId).not.toBe(one('click')?.spanContext().traceId);
});

test('queued work continues its trace', async () => {
  const { one } = openTracer();
  const from = await traced({ name: 'click' }, async () => traceHere());
  await traced({ name: 'handle', from }, later);
  expect(one('handle')?.parentSpanContext?.spanId).toBe(one('click')?.spanContext().spanId);
});

test('an error is recorded by its class, without its message', async () => {
  const { one } = openTracer();
  const fault = new TypeError('canary');
  const work = traced({ name: 'work' }, async () => Promise.reject(fault));
  await expect(work).rejects.toBe(fault);
  expect(one('work')).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'TypeError' },
  });
  expect(one('work')?.events).toEqual([]);
});

test.for(['<!channel>', 'a\nb', 'xoxb-1"', 'é', 'x'.repeat(121), '\u001b[2J'])(
  'a value outside the closed lists (%j) is not recorded',
  async (text) => {
    const { spans } = openTracer();
    await traced({ name: text, facts: { 'signalbox.command': text } }, async () =>
      note({ 'signalbox.ending': text }),
    );
    expect(spans()).toMatchObject([
      { name: 'other', attributes: { 'signalbox.command': 'other', 'signalbox.ending': 'other' } },
    ]);
  },
);

test('log lines name a recorded trace', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const { one } = openTracer();
  await traced({ name: 'work' }, async () => log.info('within'));
  log.info('outside');
  const { traceId, spanId } = one('work')?.spanContext() ?? {};
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ trace_id: traceId, span_id: spanId });
  expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('trace_id');
});

test('an unsampled trace is not recorded, here or later', async () => {
  const { spans } = openTracer(0);
  const from = await traced({ name: 'click' }, async () => {
    expect(idsInLog()).toEqual({});
    return traceHere();
  });
  await traced({ name: 'handle', from }, later);
  expect(spans()).toEqual([]);
});
