// How a change begins: as the draft of a request, or approved together with an earlier change. Both
// get the plan digest, to which approvals are bound.

import { hash } from 'node:crypto';
import { canonical, cleanText } from '../base/text.ts';
import { MINUTE_MS } from '../base/time.ts';
import type { Change } from './change.ts';
import type { ChangeEvent } from './change-events.ts';

/** A draft expires after this time without confirmation. */
const DRAFT_LIFETIME_MS = 30 * MINUTE_MS;

/** What a request determines; every other field of a draft is empty. */
type DraftFields = Pick<
  Change,
  'organization' | 'command' | 'requester' | 'reason' | 'plan' | 'requires'
> &
  Partial<Pick<Change, 'via' | 'words' | 'standing'>>;

type Drafted = Extract<ChangeEvent, { type: 'drafted' }>;

/** The first event of a request that its requester has not confirmed yet. */
export function draftChange(
  { requestKey = null, ...given }: DraftFields & Partial<Pick<Change, 'requestKey'>>,
  now: Date,
): Drafted {
  const { via = null, words, standing, ...own } = given;
  // The databases store U+FFFD instead of half an emoji, and the digest covers what they store.
  const reason = own.reason?.toWellFormed() ?? null;
  const by = standing && { standing };
  const fields = { ...own, reason, via, words: words ? agentWords(words) : null, ...by };
  return {
    type: 'drafted',
    ...fields,
    requestKey,
    digest: planDigest(fields),
    expiresAt: new Date(now.getTime() + DRAFT_LIFETIME_MS),
    notBefore: null,
    parent: null,
    inherits: null,
  };
}

const WORDS_MAX = 180;

/** What an agent says, as one bounded line without markup, links and mentions. Null: nothing is left. */
export function agentWords(text: string): string | null {
  const plain = cleanText(text, text.length)
    .replace(/\b[a-z][a-z\d+.-]*:\/\/\S*/gi, ' ')
    .replace(/[<>&*_~`|@#“”„«»"\\[\](){}]/g, ' ');
  return cleanText(plain, WORDS_MAX) || null;
}

/** What differs between a change and the one with which it was approved. */
type OwnFields = Pick<Drafted, 'command' | 'plan' | 'notBefore' | 'expiresAt' | 'parent'>;

/**
 * The first event of an approved change that was requested and approved together with an earlier one: a revert, or the
 * run of a schedule. It inherits who requested it, reason, requirement and approvals, and nothing else.
 */
export function inheritChange(approved: Change, own: OwnFields): Drafted {
  const { organization, requester, via, words, reason, requires } = approved;
  const { approvals, breakGlass, confirmedAt } = approved;
  const fields = { organization, requester, via, words, reason, requires, ...own };
  return {
    type: 'drafted',
    ...fields,
    requestKey: null,
    digest: planDigest(fields),
    inherits: { confirmedAt, approvals, breakGlass },
  };
}

/** Marks what a digest covers. */
const DIGEST_PREFIX = '3:';

/** Returns the SHA-256 hash to which approvals and audit events are bound. */
export function planDigest(request: DraftFields): string {
  const { organization, command, requester, via, words, reason, plan, requires } = request;
  const { standing } = request;
  const asked = { organization, command, requester, reason, plan, requires };
  // Through JSON text, so that a date and a missing key are as they are in the database.
  const json = JSON.stringify({ ...asked, ...(via && { via, words }), standing });
  return DIGEST_PREFIX + hash('sha256', canonical(JSON.parse(json)));
}
