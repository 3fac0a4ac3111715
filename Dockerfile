# The program alone, on the smallest base that has its C library. Build from a checkout:  docker build -t allranks .
# Use:  docker run --rm -v "$PWD:/code" allranks check
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends git npm ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN tools/setup && cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release --target programs

FROM debian:12-slim
# git reads the old code for --diff-base.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'
COPY --from=build /source/build/release/allranks* /usr/local/bin/
WORKDIR /code
ENTRYPOINT ["allranks"]
CMD ["check"]
