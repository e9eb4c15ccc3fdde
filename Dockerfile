# The version equals that of the runtime packages in package.json; a test compares them.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS bundle
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No script of a package runs during the build.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY deploy/bundle.config.ts ./deploy/bundle.config.ts
RUN npm run bundle && install --directory --owner=10001 compiled
# A start without configuration loads all code, exits with 78 and stores the compiled code, one folder for each user.
USER 10001:10001
RUN NODE_COMPILE_CACHE=/app/compiled node dist/main.js 2>/dev/null; test $? = 78 && chmod -R a+rX compiled

FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2
# An intruder cannot use tools that are missing. Kubernetes needs the user as a number to enforce
# runAsNonRoot.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn* \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin signalbox \
 && ln -s /app/bin/signalbox /usr/local/bin/signalbox \
 && install --directory --owner=signalbox --group=signalbox --mode=0700 /data
WORKDIR /app
# package.json says that the bundle is a module. No package is needed.
COPY package.json LICENSE ./
COPY bin ./bin
COPY --from=bundle /app/dist ./dist
COPY --from=bundle /app/compiled ./compiled

ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/compiled \
    SIGNALBOX_CONFIG=/etc/signalbox/signalbox.yaml
USER 10001:10001
# Without DATABASE_URL the database is in the working directory. The bot writes nothing else.
WORKDIR /data
VOLUME ["/data"]
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://${process.env.BIND_ADDRESS || '127.0.0.1'}:${process.env.OPS_PORT || process.env.PORT || 3000}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["/app/bin/signalbox", "start"]
