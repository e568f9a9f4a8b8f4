# syntax=docker/dockerfile:1
# An image of this checkout: docker build -t lazuli .
# How to run it: docs/guides/containers.md

FROM node:24-slim AS build
WORKDIR /checkout
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && npm pack --pack-destination / \
  && tar -xzf /lazuli-*.tgz -C / \
  && cp package-lock.json /package/
# The package with what it depends on, in the versions of package-lock.json.
WORKDIR /package
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && for name in lazuli azurite azurite-blob azurite-queue azurite-table; do \
    chmod +x "bin/$name.cjs"; \
  done

FROM node:24-slim
COPY --from=build /package /opt/lazuli
RUN for name in lazuli azurite azurite-blob azurite-queue azurite-table; do \
    ln -s "/opt/lazuli/bin/$name.cjs" "/usr/local/bin/$name"; \
  done \
  && install -d -m 700 -o node -g node /data
# Defaults of --location and --host, also for commands that do not name them.
ENV NODE_ENV=production \
  LAZULI_LOCATION=/data \
  LAZULI_HOST=0.0.0.0
USER node
VOLUME /data
# Blob, Queue, Table, File, SMB
EXPOSE 10000 10001 10002 10003 10004 10445
HEALTHCHECK --interval=30s --timeout=15s --start-period=30s CMD ["lazuli", "health"]
# The command is a whole command line, as in Azurite's image.
ENTRYPOINT []
CMD ["lazuli"]
