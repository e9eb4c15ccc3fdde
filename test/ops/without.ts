import { registerHooks } from 'node:module';

/** Run before the bot: a process in which whatever traces cannot be loaded. */
registerHooks({
  resolve: (specifier, context, next) => {
    if (/@opentelemetry\/(sdk|exporter|context)/.test(specifier)) {
      throw new Error('It was loaded');
    }
    return next(specifier, context);
  },
});
