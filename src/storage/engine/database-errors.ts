/** SQLite's own numbers, in the low byte of what Node hands on. */
const SQLITE: Readonly<Record<number, string>> = {
  5: 'The database is locked by another program. Close that, then try again.',
  6: 'The database is locked by another program. Close that, then try again.',
  8: 'The database can only be read: look at the rights of its file and folder.',
  10: 'The disk of the database failed to read or write. Look at the disk before anything else.',
  11: 'The database is damaged. Keep the file as it is, and restore a backup beside it.',
  13: 'The disk of the database is full. Make room; it goes on by itself from then on.',
  14: 'There is no database there, or it may not be opened: look at DATABASE_URL.',
  26: 'This file is not a database of Signalbox, or it is damaged: look at DATABASE_URL.',
};

const NO_ANSWER = 'The database does not answer: is the server at DATABASE_URL running?';
const JUST_NOW = 'The database is just starting or stopping. Try again in a minute.';

/** And PostgreSQL's, with those of the connection to it. */
const SERVER: Readonly<Record<string, string>> = {
  ECONNREFUSED: NO_ANSWER,
  ECONNRESET: NO_ANSWER,
  EPIPE: NO_ANSWER,
  EHOSTUNREACH: NO_ANSWER,
  ENETUNREACH: NO_ANSWER,
  ENOTFOUND: 'The server that DATABASE_URL names cannot be found.',
  EAI_AGAIN: 'The server that DATABASE_URL names cannot be found.',
  ETIMEDOUT: NO_ANSWER,
  '28P01': 'The database refuses the user or the password of DATABASE_URL.',
  '28000': 'The database refuses the user of DATABASE_URL.',
  '3D000': 'The server has no database of the name in DATABASE_URL.',
  '25006': 'The database can only be read: is this a standby server?',
  '42501': 'The user of DATABASE_URL may not do that in this database.',
  '53100': 'The disk of the database is full. Make room; it goes on by itself from then on.',
  '53300': 'The server takes no more connections.',
  '57P01': JUST_NOW,
  '57P02': JUST_NOW,
  '57P03': JUST_NOW,
};

// The driver has no code for a connection that broke or was not made in time, only these words.
const BROKEN = /^(Connection terminated|timeout exceeded when trying to connect|Client has enc)/;

/** What is wrong with the database, for people; null where the error is about something else. */
export function databaseProblem(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const number = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;
  if (number !== null) return SQLITE[number & 0xff] ?? null;
  const known = 'code' in error ? SERVER[String(error.code)] : undefined;
  return known ?? (BROKEN.test(error.message) ? NO_ANSWER : null);
}
