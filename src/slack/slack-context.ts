import type { Logger } from 'pino';
import type { Command } from '../intent/define.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import type { Drawing } from './cards/drawing.ts';
import type { Clients } from './outbound/clients.ts';
import type { Respond } from './outbound/response-url.ts';
import type { Home } from './people/actors.ts';

/** What every listener works with. It has no state. */
export interface SlackContext {
  readonly context: WorkflowContext;
  readonly commands: readonly Command[];
  readonly drawing: Drawing;
  readonly clients: Clients;
  readonly respond: Respond;
  readonly home: Home;
  /** Prepended to each noun, so that two apps of one workspace do not clash. */
  readonly prefix: string;
  readonly log: Logger;
}
