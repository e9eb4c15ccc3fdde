import { z } from 'zod';

/** The part of the bot's environment that the apps beside it read too. */
export const Environment = z.object({
  SLACK_BOT_TOKEN: z.string(),
  SLACK_SIGNING_SECRET: z.string(),
  SLACK_API_URL: z.url(),
  PORT: z.coerce.number(),
});
