import { expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics, type Metrics } from '../../src/ops/telemetry.ts';
import { NOON } from '../domain/changes-fixtures.ts';
import { GAUGES, HEALTHY } from './healthy.ts';

function measured(readings: Partial<Parameters<Metrics['text']>[0]> = {}) {
  const { measures, reloaded, text } = createMetrics({
    version: '1.0.0',
    messageKinds: ['card', 'notice'],
    slackLimits: new Map([['users.info', 100]]),
  });
  const all = { gauges: async () => GAUGES, ...HEALTHY, ...readings };
  return { measures, reloaded, text: () => text(all, NOON) };
}

test('the apps of a process share the metrics of Node, and add no observer', async () => {
  const observe = vi.spyOn(PerformanceObserver.prototype, 'observe');
  onTestFinished(() => observe.mockRestore());
  for (const { text } of [measured(), measured()]) {
    expect((await text()).match(/^# TYPE nodejs_gc_duration_seconds /gm)).toHaveLength(1);
  }
  expect(observe).not.toHaveBeenCalled();
});

test('every measurement appears in the metrics', async () => {
  const { measures, text } = measured();
  measures.answered('service stop', 'drafted');
  measures.moved('service stop', 'approved');
  measures.refused('self-approval');
  measures.lookupFailed();
  measures.messageLost('card');
  measures.permitReturned();
  measures.acknowledged('command', 30);
  measures.shown(3_004);
  measures.sent(700);
  const seen = { operation: 'set state', attempt: 1, status: null, requestId: null };
  measures.called('cloud', { ...seen, method: 'PATCH', waitedMs: 3_000, ms: 40_000 });
  measures.slackCalled('users.info', 'limited');
  const lines = (await text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      `signalbox_build_info{version="1.0.0",node="${process.version}"} 1`,
      'signalbox_shown_seconds_bucket{le="2.5"} 0',
      'signalbox_shown_seconds_bucket{le="+Inf"} 1',
      'signalbox_sent_seconds_bucket{le="1"} 1',
      'signalbox_answers_total{command="service stop",ending="drafted"} 1',
      'signalbox_change_moves_total{command="service stop",state="approved"} 1',
      'signalbox_refusals_total{reason="self-approval"} 1',
      'signalbox_lookup_failures_total 1',
      'signalbox_messages_lost_total{kind="card"} 1',
      'signalbox_messages_lost_total{kind="notice"} 0',
      'signalbox_permits_returned_total 1',
      'signalbox_undelivered_card_age_seconds 660',
      'signalbox_slack_connected 1',
      'signalbox_database_writable 1',
      'signalbox_config_last_reload_success 1',
      'signalbox_config_info{hash="c1"} 1',
      'signalbox_ack_seconds_bucket{le="0.025",kind="command"} 0',
      'signalbox_ack_seconds_bucket{le="0.05",kind="command"} 1',
      'signalbox_api_call_seconds_count{api="cloud",operation="set state",status="none"} 1',
      'signalbox_api_queue_seconds_bucket{le="2.5",api="cloud"} 0',
      'signalbox_api_queue_seconds_bucket{le="5",api="cloud"} 1',
      'signalbox_slack_calls_total{method="users.info",ending="limited"} 1',
      'signalbox_slack_limit_per_minute{method="users.info"} 100',
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
  const { measures, text } = measured({
    gauges: async () => {
      if (failing.on) throw new Error('the database is away');
      return GAUGES;
    },
  });
  measures.refused('frozen');
  await text();
  failing.on = true;
  const told = await text();
  expect(told).toContain('signalbox_database_readable 0');
  expect(told).not.toContain('signalbox_open_changes{');
  // An outage of the database does not resolve the alert.
  expect(told).toContain('signalbox_trail_broken 1');
  expect(told).toContain('signalbox_refusals_total{reason="frozen"} 1');
});

test('two instances in one process do not share metrics', async () => {
  const [one, other] = [measured(), measured()];
  one.measures.refused('frozen');
  expect(await other.text()).not.toContain('reason="frozen"');
});

test('a replica without Slack, a writable database or a valid reload reports it', async () => {
  const state = { hash: 'c1' };
  const { reloaded, text } = measured({
    isConnected: () => false,
    isWritable: async () => false,
    configuration: () => state.hash,
  });
  reloaded(false);
  const refused = await text();
  expect(refused).toContain('signalbox_slack_connected 0');
  expect(refused).toContain('signalbox_database_writable 0');
  expect(refused).toContain('signalbox_config_last_reload_success 0');

  reloaded(true);
  state.hash = 'c2';
  const active = await text();
  expect(active).toContain('signalbox_config_last_reload_success 1');
  expect(active).toContain('signalbox_config_info{hash="c2"} 1');
  expect(active).not.toContain('hash="c1"');
});
