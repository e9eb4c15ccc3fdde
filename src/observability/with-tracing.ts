import type { Database } from '../storage/engine/database.ts';
import { routeOf } from './api-routes.ts';
import type { Measures } from './metrics-port.ts';
import { isTracing, note, pastStep, step } from './trace.ts';

/** Also records every measurement as attributes or child spans of the current trace. */
export function withTracedMeasures(measures: Measures): Measures {
  if (!isTracing()) return measures;
  return {
    ...measures,
    answered: (command, ending) => {
      measures.answered(command, ending);
      const failed = ending === 'failed' ? { 'error.type': ending } : {};
      note({ 'signalbox.command': command, 'signalbox.ending': ending, ...failed });
    },
    refused: (refusal) => {
      measures.refused(refusal);
      note({ 'signalbox.refusal': refusal });
    },
    acknowledged: (kind, ms) => {
      measures.acknowledged(kind, ms);
      note({ 'signalbox.ack_ms': Math.round(ms) });
    },
    called: (api, observation) => {
      measures.called(api, observation);
      pastStep(callOf(api, observation), observation.ms);
    },
  };
}

type CallMeasurement = Parameters<Measures['called']>;

function callOf(
  api: CallMeasurement[0],
  { operation, method, attempt, status }: CallMeasurement[1],
) {
  const route = routeOf(api, operation);
  const failed = status === null ? 'no-answer' : status >= 300 ? String(status) : undefined;
  return {
    name: `${method} ${route}`,
    kind: 'client',
    facts: {
      'signalbox.api': api,
      'signalbox.operation': operation,
      'http.request.method': method,
      'url.template': route,
      'http.response.status_code': status ?? undefined,
      'http.request.resend_count': attempt > 1 ? attempt - 1 : undefined,
      'error.type': failed,
    },
  } as const;
}

/** Traces every transaction as a child span, including its wait for a connection. */
export function withTracedTransactions(database: Database): Database {
  if (!isTracing()) return database;
  const system = database.engine === 'sqlite' ? 'sqlite' : 'postgresql';
  const work = {
    name: 'transaction',
    kind: 'client',
    facts: { 'db.system.name': system },
  } as const;
  return {
    ...database,
    transaction: (body) => step(work, () => database.transaction(body)),
    run: (statement) => step(work, () => database.run(statement)),
  };
}
