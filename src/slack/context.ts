import type { Logger } from 'pino';
import type { Clock } from '../base/time.ts';
import type { Command } from '../commands/index.ts';
import type { UserId } from '../domain/change.ts';
import type { Place } from '../domain/place.ts';
import type { WorkflowContext } from '../workflow/index.ts';
import type { Home } from './accounts.ts';
import type { Clients, Respond } from './api.ts';
import type { Permalinks } from './links.ts';
import type { DrawContext } from './naming.ts';
import type { Places } from './place.ts';
import type { ReplyTarget } from './post.ts';

/** What every listener works with. It has no state. */
export interface SlackContext {
  readonly context: WorkflowContext;
  readonly commands: readonly Command[];
  readonly drawing: DrawContext;
  /** Signs and verifies the places of buttons. */
  readonly places: Places;
  readonly permalinks: Permalinks;
  readonly clients: Clients;
  readonly respond: Respond;
  readonly home: Home;
  /** The user id of the app, as mentions carry it. */
  readonly botUserId: string;
  /** Prepended to each noun, so that two apps of one workspace do not clash. */
  readonly prefix: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/** A command line that a user typed, or a button that types it for them. */
export interface CommandLine {
  readonly noun: string;
  readonly text: string;
  readonly by: UserId;
  readonly replyTarget: ReplyTarget;
  /** Slack's id of this interaction: it opens a modal and recognises a repeated delivery. */
  readonly trigger: string;
  /** Where its button was pressed; missing: it was typed. */
  readonly place?: Place;
}
