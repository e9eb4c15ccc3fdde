import type { Observation } from '../http/client.ts';

/**
 * What is counted as it happens. Whoever calls it is in the middle of something else, so that it
 * never throws. Names in it come from closed lists of ours: a label from outside could fill the
 * memory of whoever collects them.
 */
export interface Measures {
  /** How an answer to a person ended. */
  readonly answered: (command: string, ending: Answered) => void;
  /** A change entered a state. */
  readonly moved: (command: string, state: string) => void;
  /** A named “no”, by the name of its refusal. */
  readonly refused: (refusal: string) => void;
  /** From the arrival of a payload until Slack had our acknowledgement. */
  readonly acknowledged: (kind: string, ms: number) => void;
  readonly called: (api: Api, seen: Observation) => void;
  /** Slack did not tell who somebody is, or who is in a group. */
  readonly lookupFailed: () => void;
}

export type Answered = 'answered' | 'drafted' | 'misread' | 'refused' | 'failed';
export type Api = 'cloud' | 'alerts';

const nothing = () => undefined;

/** For whoever does not count. */
export const unmeasured: Measures = {
  answered: nothing,
  moved: nothing,
  refused: nothing,
  acknowledged: nothing,
  called: nothing,
  lookupFailed: nothing,
};
