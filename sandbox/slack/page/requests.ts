import { z } from 'zod';
import type * as protocol from '../../protocol.ts';

const Id = z.string().min(1).max(255);
const Line = z.string().max(40_000);
const AnyJson = z.record(z.string(), z.unknown());
const Values = z.record(z.string(), z.record(z.string(), AnyJson));

const Place = z.discriminatedUnion('in', [
  z.object({ in: z.literal('message'), channel: Id, ts: Id }),
  z.object({ in: z.literal('view'), viewId: Id }),
  z.object({ in: z.literal('home') }),
]);
const element = { as: Id, place: Place, blockId: Id, actionId: Id };

/** What the page may send. It runs in a browser, so nothing of it is taken on trust. */
export const CommandTyped = z.object({ as: Id, channel: Id, text: Line });
export const MessageTyped = CommandTyped.extend({ threadTs: Id.exactOptional() });
export const Pressed = z.object({ ...element, element: AnyJson, values: Values.exactOptional() });
export const Searched = z.object({ ...element, value: z.string().max(3000) });
export const Submitted = z.object({ as: Id, viewId: Id, values: Values });
export const Closed = z.object({ as: Id, viewId: Id });
export const HomeOpened = z.object({ as: Id });
export const ShortcutUsed = z.object({
  as: Id,
  callbackId: Id,
  channel: Id.exactOptional(),
  ts: Id.exactOptional(),
});

/** A schema that drifts from the protocol must not compile. */
export interface Agreement {
  readonly command: Same<z.infer<typeof CommandTyped>, protocol.CommandInput>;
  readonly message: Same<z.infer<typeof MessageTyped>, protocol.MessageInput>;
  readonly pressed: Same<z.infer<typeof Pressed>, protocol.ActionTriggered>;
}

type Same<Sent extends Agreed, Agreed> = Sent;
