/**
 * The rules of two witnesses (docs/reliability.md, "Walks with two witnesses"). The model follows all of them; a mutant leaves one out.
 * The number is that of the rule in the design.
 */
export interface Rules {
  /** 1. A note with the mark of `claimed` is posted before the request is sent. */
  readonly postNote: boolean;
  /** 1. The thread is read back after the note, before the request is sent. */
  readonly readBack: boolean;
  /** 1. A foreign note before the own one refuses. */
  readonly seeNotes: boolean;
  /** 1. A foreign mark on the card refuses. */
  readonly seeCard: boolean;
  /** 1. Of two notes the earlier one wins. Without: any foreign note refuses. */
  readonly earlierWins: boolean;
  /** 1. A mark is compared by its hash. Without: by its version. */
  readonly compareHash: boolean;
  /** 1. Marks are compared with the stream that ends with the own claim. Without: with the log of now. */
  readonly judgeByClaim: boolean;
  /** 1. A failure before the send is `not-sent`. Without: an unreadable thread counts as empty. */
  readonly failureIsNotSent: boolean;
  /** 1. The request is sent within the lease. */
  readonly withinLease: boolean;
  /** 1. After a commit without an answer nothing is sent. */
  readonly commitAnswered: boolean;
  /** 2. A card is read before it is drawn, and not drawn over while it has a foreign mark. */
  readonly readBeforeDraw: boolean;
  /** 2. Drawn means that a later read showed it. */
  readonly drawnIfRead: boolean;
  /** 3. Channels are read at the start, … */
  readonly scanAtStart: boolean;
  /** 3. … on a new timeline, … */
  readonly scanNewTimeline: boolean;
  /** 3. … after a lost connection, … */
  readonly scanLostConnection: boolean;
  /** 3. … when a known end is gone, … */
  readonly scanGoneEnd: boolean;
  /** 3. … and once a day, … */
  readonly scanDaily: boolean;
  /** 3. … in pages, … */
  readonly scanPages: boolean;
  /** 3. … the audit channel included, … */
  readonly scanAudit: boolean;
  /** 3. … with the threads of open cards, … */
  readonly scanThreads: boolean;
  /** 3. … before the first drawing. */
  readonly scanFirst: boolean;
  /** 4. `restored` names the foreign marks, which answers them. */
  readonly answerMarks: boolean;
  /** 4. A change with a foreign mark ends. Without: it keeps waiting. */
  readonly endForeign: boolean;
  /** 4. An executing change with a foreign mark becomes `unknown`. Without: `stale`. */
  readonly executingIsUnknown: boolean;
  /** 4. A foreign freeze stops all executions. */
  readonly foreignFreeze: boolean;
  /** 4. A schedule with a foreign mark pauses. */
  readonly pauseLost: boolean;
  /** 4. A subject that the log does not know is drawn as lost. */
  readonly drawLost: boolean;
  /** 5. A process compares the log with what it knows before each claim. */
  readonly memory: boolean;
  /** 5. A process executes nothing while the chain is damaged. */
  readonly damagedStops: boolean;
  /** 6. Slack is read once before the claim. */
  readonly slackFirst: boolean;
  /** 6. Channels that cannot be read are not channels without foreign marks. */
  readonly unreadableStops: boolean;
  /** 7. The run of a schedule has its note in the thread of the schedule's card. */
  readonly scheduleNote: boolean;
  /** 7. A freeze is posted before it is confirmed. */
  readonly freezePosted: boolean;
  /** 7. A digest looks for its mark before it is posted. */
  readonly digestSearch: boolean;
  /** 7. The line in the audit channel carries the mark of the execution. */
  readonly auditLine: boolean;
  /** A person is told the result after the card shows it. */
  readonly tellAfterCard: boolean;
  /** A change with an unanswered press is not claimed. */
  readonly pressBlocksClaim: boolean;
  /** Beyond the design: an end stands in the thread before the card shows it. */
  readonly endNote: boolean;
  /** Beyond the design: after a card was posted the channel is read back, and its first card of the subject is the card. */
  readonly firstCard: boolean;
  /** Beyond the design: a change with a foreign note becomes `unknown` and holds its target. */
  readonly noteIsUnknown: boolean;
  /** The design's first idea: the card is edited and read instead of a note. Only the control has it. */
  readonly register: boolean;
}

export const WITNESS: Rules = {
  ...{ postNote: true, readBack: true, seeNotes: true, seeCard: true, earlierWins: true },
  ...{ compareHash: true, judgeByClaim: true, failureIsNotSent: true, withinLease: true },
  ...{ commitAnswered: true, readBeforeDraw: true, drawnIfRead: true, scanAtStart: true },
  ...{ scanNewTimeline: true, scanLostConnection: true, scanGoneEnd: true, scanDaily: true },
  ...{ scanPages: true, scanAudit: true, scanThreads: true, scanFirst: true },
  ...{ answerMarks: true, endForeign: true, executingIsUnknown: true },
  ...{ foreignFreeze: true, pauseLost: true, drawLost: true, memory: true, damagedStops: true },
  ...{ slackFirst: true, unreadableStops: true, scheduleNote: true, freezePosted: true },
  ...{ digestSearch: true, auditLine: true, tellAfterCard: true, pressBlocksClaim: true },
  ...{ endNote: true, firstCard: true, noteIsUnknown: true, register: false },
};

/**
 * A version on the card, which is read before each claim and edited before the request is sent. No channel is read, and a
 * card is drawn without a read. The control: it must send twice.
 */
export const FIRST_IDEA: Rules = {
  ...WITNESS,
  ...{ postNote: false, readBack: false, seeNotes: false, compareHash: false },
  ...{ readBeforeDraw: false, drawnIfRead: false, scanAtStart: false, scanNewTimeline: false },
  ...{ scanLostConnection: false, scanGoneEnd: false, scanDaily: false, tellAfterCard: false },
  ...{ endNote: false, firstCard: false, noteIsUnknown: false, register: true },
};
