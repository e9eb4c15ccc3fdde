// What users do about an anomaly with the buttons of its post: Slack receives the click, and the room
// of costs decides about it.

import type { Answer } from './answer.ts';
import type { UserId } from './change.ts';
import type { Denial } from './gate.ts';

/** What the buttons of an anomaly do. */
export const INCIDENT_VERBS = ['expected'] as const;

/** A click on a button of an anomaly. */
export interface IncidentClick {
  readonly verb: (typeof INCIDENT_VERBS)[number];
  /** The anomaly's id, as the button carries it. It grants no permission. */
  readonly id: string;
  readonly by: UserId;
  /** The key of the press. The same press decides once, and gets the same answer again. */
  readonly key: string;
}

export type IncidentClickOutcome =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly denial: Denial };

/** What users can do about an anomaly. */
export interface IncidentService {
  readonly press: (press: IncidentClick) => Promise<IncidentClickOutcome>;
  readonly details: (request: Pick<IncidentClick, 'id' | 'by'>) => Promise<IncidentClickOutcome>;
}
