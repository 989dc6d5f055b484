cpdef double step_size(int step, double r, double score, double norm2, double C) noexcept nogil
