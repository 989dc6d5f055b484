# A service of models: built from this folder, slim, not root.
#   docker build -t seqpa .
#   docker run --rm -p 8000:8000 -v "$PWD/models:/models:ro" -e SEQPA_TOKEN=... seqpa \
#       /models/ner/model.safetensors
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
WORKDIR /source
COPY . .
RUN python -m venv /opt/seqpa && /opt/seqpa/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.12-slim
COPY --from=build /opt/seqpa /opt/seqpa
RUN useradd --system --no-create-home seqpa
USER seqpa
EXPOSE 8000
HEALTHCHECK --start-period=20s CMD ["/opt/seqpa/bin/python", "-c", \
    "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/ready', timeout=3)"]
# Inside a container the address is everybody's, so the service asks for a token: SEQPA_TOKEN.
ENTRYPOINT ["/opt/seqpa/bin/seqpa", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model.safetensors"]
