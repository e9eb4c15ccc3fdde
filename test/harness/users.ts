/** The time at which the tests start. */
export const NOON = new Date('2026-11-20T12:00:00.000Z');

// The users of the sandbox workspace. Ana and Finn are operators; Ben, Cleo and Gus are approvers;
// Dora is a viewer; Emil has no role; Gina is a guest; Sven is of another workspace; Hugo is
// deactivated.
export const ANA = 'U0ANA00001';
export const FINN = 'U0FINN0001';
export const BEN = 'U0BEN00001';
export const CLEO = 'U0CLEO0001';
export const GUS = 'U0GUS00001';
export const DORA = 'U0DORA0001';
export const EMIL = 'U0EMIL0001';
export const GINA = 'U0GINA0001';
export const SVEN = 'U0SVEN0001';
export const HUGO = 'U0HUGO0001';
