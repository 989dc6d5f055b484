"""A model behind HTTP: a service for programs, and a page for people.

In reading order:

- `settings`: what the service is told; `messages`: what requests and answers hold; `problems`: what
  went wrong, in one sentence;
- `answers`: from the body of a request to that of its answer; `models`: the files, swapped while
  requests are answered; `lanes`: the threads that work, and how short requests are gathered;
- `bodies`, `deadlines`, `connections`: limits of size, time and number; `guard`: token, host and
  headers; `streams`: JSON lines; `metrics`, `logs`: what is told of the service itself;
- `page`: the files of the page; `app`: all of it put together; `running`: processes and signals.

Needs the extra ``serve``: ``pip install "seqpa[serve]"``.
"""
