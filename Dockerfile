# The program alone, on the smallest base that has its C library. Build from a checkout:  docker build -t allranks .
# Use:  docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/code" allranks check
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends git npm ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN tools/setup && cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release --target programs

FROM debian:12-slim
# git reads the old code for --diff-base.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'
COPY --from=build /source/build/release/allranks /source/build/release/allranks-clang /usr/local/bin/
COPY LICENSE THIRD_PARTY_NOTICES /usr/local/share/doc/allranks/
LABEL org.opencontainers.image.source=https://github.com/allranks/allranks org.opencontainers.image.licenses=Apache-2.0
# Not root: nothing in the mounted folder is to belong to it. Where the user cannot write there, there is no cache; `docker run
# --user "$(id -u):$(id -g)"` writes as you.
RUN useradd --create-home --uid 1000 allranks
USER allranks
WORKDIR /code
ENTRYPOINT ["allranks"]
CMD ["check"]
