import type { Observation } from '../http/client.ts';
import type { Api } from './log.ts';

/**
 * Counters that the rooms increment. The methods never throw. All label values come from closed
 * lists, because free values would make the number of time series unlimited.
 */
export interface Measures {
  /** A command got its answer. */
  readonly answered: (command: string, ending: AnswerEnding) => void;
  /** A change entered a state. */
  readonly moved: (command: string, state: string) => void;
  /** A refusal, by its name. */
  readonly refused: (refusal: string) => void;
  /** Time from the arrival of a Slack payload to its acknowledgement. */
  readonly acknowledged: (kind: string, ms: number) => void;
  readonly called: (api: Api, observation: Observation) => void;
  /** A message was given up after all retries. */
  readonly messageLost: (kind: string) => void;
  /** A claimed change was not sent: its permit is returned, and it is claimed again later. */
  readonly permitReturned: () => void;
  /** A call of Slack's Web API ended. */
  readonly slackCalled: (method: string, ending: SlackCallEnding) => void;
  /** Slack did not answer a lookup of a user or a user group. */
  readonly lookupFailed: () => void;
}

/** `limited`: Slack refused the call because of its rate limit. `failed`: it did not answer. */
export type SlackCallEnding = 'answered' | 'limited' | 'failed';

type AnswerEnding = 'answered' | 'drafted' | 'misread' | 'refused' | 'failed';
