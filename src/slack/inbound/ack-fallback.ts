import type { App } from '@slack/bolt';

type ProcessEvent = App['processEvent'];

/**
 * Bolt leaves what none of its listeners took without an answer, and its connection open, until
 * three seconds are over. What went by without a fault is answered at once; a fault never is, for
 * Slack would tell a person that all went well.
 */
export function withAckFallback(processEvent: ProcessEvent): ProcessEvent {
  return async (event) => {
    let acknowledged = false;
    const ack: typeof event.ack = async (response) => {
      acknowledged = true;
      await event.ack(response);
    };
    await processEvent({ ...event, ack });
    if (!acknowledged) await event.ack();
  };
}
