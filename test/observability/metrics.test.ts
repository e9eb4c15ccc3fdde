import { expect, test } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Gauges } from '../../src/storage/tables/queues/gauges.ts';
import { minutes, NOON } from '../storage/example-change.ts';

const GAUGES: Gauges = {
  changes: new Map([
    ['pending', { count: 2, since: minutes(-90) }],
    ['unknown', { count: 0, since: null }],
  ]),
  outbox: { count: 3, since: minutes(5) },
  inbox: { count: 1, since: minutes(-1) },
  digests: new Map([['posted', 12]]),
  trailProblem: 'Event 7 is missing.',
  isOutdated: true,
};

function measured(gauges: () => Promise<Gauges> = async () => GAUGES) {
  const { measures, text } = createMetrics({ version: '1.0.0' });
  return { measures, text: () => text(gauges, NOON) };
}

test('every measurement appears in the metrics', async () => {
  const { measures, text } = measured();
  measures.answered('service stop', 'drafted');
  measures.moved('service stop', 'approved');
  measures.refused('self-approval');
  measures.lookupFailed();
  measures.messageLost('card');
  measures.acknowledged('command', 30);
  const seen = { operation: 'set state', attempt: 1, status: null, requestId: null, ms: 40_000 };
  measures.called('cloud', { ...seen, method: 'PATCH' });
  const lines = (await text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'signalbox_info{version="1.0.0"} 1',
      'signalbox_answers_total{command="service stop",ending="drafted"} 1',
      'signalbox_change_moves_total{command="service stop",state="approved"} 1',
      'signalbox_refusals_total{reason="self-approval"} 1',
      'signalbox_lookup_failures_total 1',
      'signalbox_messages_lost_total{kind="card"} 1',
      'signalbox_ack_seconds_bucket{le="0.025",kind="command"} 0',
      'signalbox_ack_seconds_bucket{le="0.05",kind="command"} 1',
      'signalbox_api_call_seconds_count{api="cloud",operation="set state",status="none"} 1',
      'signalbox_open_changes{state="pending"} 2',
      'signalbox_open_change_age_seconds{state="pending"} 5400',
      'signalbox_open_change_age_seconds{state="unknown"} 0',
      'signalbox_queue_depth{queue="outbox"} 3',
      'signalbox_queue_age_seconds{queue="outbox"} 0',
      'signalbox_queue_age_seconds{queue="inbox"} 60',
      'signalbox_digests{state="posted"} 12',
      'signalbox_trail_broken 1',
    ]),
  );
});

test('without the database its gauges are absent, and the other metrics remain', async () => {
  const failing = { on: false };
  const { measures, text } = measured(async () => {
    if (failing.on) throw new Error('the database is away');
    return GAUGES;
  });
  measures.refused('frozen');
  await text();
  failing.on = true;
  const told = await text();
  expect(told).toContain('signalbox_database_readable 0');
  expect(told).not.toContain('signalbox_open_changes{');
  expect(told).toContain('signalbox_refusals_total{reason="frozen"} 1');
});

test('two instances in one process do not share metrics', async () => {
  const [one, other] = [measured(), measured()];
  one.measures.refused('frozen');
  expect(await other.text()).not.toContain('reason="frozen"');
});
