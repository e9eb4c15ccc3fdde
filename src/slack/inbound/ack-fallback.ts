import type { App } from '@slack/bolt';

type ProcessEvent = App['processEvent'];

/**
 * Acknowledges a payload that no listener handled, for which Bolt would keep the connection open for
 * three seconds. A failed payload is not acknowledged: Slack would show a success.
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
