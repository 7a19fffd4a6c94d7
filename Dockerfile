# The command with its embedded English models: `docker build -t srparse .`, then
# `echo "Dogs bark." | docker run -i --rm srparse parse --input text`.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /srparse
COPY . .
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /srparse/target/release/srparse /usr/local/bin/srparse
COPY models/*.srm /usr/local/bin/models/
# By number: orchestrators that forbid root do not resolve names.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin srparse
USER 10001
WORKDIR /data
ENTRYPOINT ["srparse"]
CMD ["--help"]
